package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"mercer/internal/engine/option"
	"mercer/internal/read/outside"
)

func isPostgres(path string, _ []byte) bool {
	scheme, _, is := strings.Cut(path, "://")
	return is && (strings.EqualFold(scheme, "postgres") || strings.EqualFold(scheme, "postgresql"))
}

// nameOf is a URL without what might be secret.
func nameOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return "postgres://…"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// readPostgres reads the rows of a query in one transaction that only reads. The server sends them as they are asked for,
// so neither side holds the table.
func readPostgres(ctx context.Context, r outside.Request, to outside.Rows) error {
	rows := 0
	err := eachPostgres(ctx, r, to, &rows)
	name := nameOf(r.Path)
	var server *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &connect):
		why, _, _ := strings.Cut(strings.TrimSpace(connect.Unwrap().Error()), "\n") // the others are other addresses
		if errors.As(err, &server) {
			why = server.Message
		}
		return fmt.Errorf("%s: cannot connect: %s", name, why)
	case errors.As(err, &server) && !strings.HasPrefix(server.Code, "57P"):
		at := ""
		if server.Position > 0 {
			at = fmt.Sprintf(" (at character %d of the query)", server.Position)
		}
		return fmt.Errorf("%s: %s%s", name, server.Message, at)
	case rows > 0 || server != nil:
		return fmt.Errorf("%s: the connection was lost after %d rows (%w); try again", name, rows, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// settings make values look alike, whatever the server's defaults are.
const settings = "begin isolation level repeatable read read only; set local timezone to 'UTC'; set local datestyle to 'ISO'; " +
	"set local extra_float_digits to 1; set local client_encoding to 'UTF8'"

func eachPostgres(ctx context.Context, r outside.Request, to outside.Rows, rows *int) error {
	u, err := url.Parse(r.Path)
	if err != nil {
		return errors.New("the URL cannot be read; it looks like postgres://user@host:5432/database")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return errors.New("a password in the URL would be seen by others; leave it out, and put it into PGPASSWORD or ~/.pgpass")
	}
	query := r.Query
	if query == "" && r.Table == "" {
		return option.Errorf("give a query (%s \"select …\") or a %s", option.Ref("query"), option.Ref("table"))
	} else if query == "" {
		query = "select * from " + pgx.Identifier(strings.Split(r.Table, ".")).Sanitize()
	}
	_, rest, _ := strings.Cut(r.Path, "://")
	config, err := pgconn.ParseConfig("postgres://" + rest)
	if err != nil {
		return errors.New("the URL or the environment (PGHOST, PGSSLMODE, …) cannot be read: " + reason(err))
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 5 * time.Second}
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "mercer"
	}
	db, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		db.Close(late)
	}()
	if _, err := db.Exec(ctx, settings).ReadAll(); err != nil {
		return err
	}
	described, err := db.Prepare(ctx, "rows", query, nil)
	if err != nil {
		return err
	}
	if len(described.Fields) == 0 {
		return option.Errorf("%s gives no rows; give a SELECT", option.Ref("query"))
	}
	if len(described.ParamOIDs) > 0 {
		return option.Errorf("%s has parameters ($1); write their values into it", option.Ref("query"))
	}
	columns, err := columnsOf(ctx, db, described.Fields)
	if err != nil {
		return err
	}
	names, texts := make([]string, len(columns)), make([]bool, len(columns))
	for i, c := range columns {
		names[i], texts[i] = described.Fields[i].Name, c.text
	}
	if err := to.Begin(names, texts); err != nil {
		return err
	}
	result := db.ExecPrepared(ctx, "rows", nil, nil, nil) // values as text
	for result.NextRow() {
		for i, v := range result.Values() {
			if v == nil {
				to.Missing()
			} else {
				columns[i].give(v, to)
			}
		}
		*rows++
		if err := to.End(); err != nil {
			return err
		}
	}
	_, err = result.Close()
	return err
}

// reason is why a configuration cannot be read, without its text, which might hold a password.
func reason(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return "give it as postgres://user@host:5432/database"
}

// column is how the values of a column are given on.
type column struct {
	text bool
	give func(v []byte, to outside.Rows)
}

// Types of PostgreSQL by their numbers, which never change.
const (
	boolType, byteaType, int8Type, int2Type, int4Type, oidType = 16, 17, 20, 21, 23, 26
	float4Type, float8Type, timestampType, timestamptzType     = 700, 701, 1114, 1184
	numericType                                                = 1700
)

// columnsOf finds out how the values of a query are to be given on.
func columnsOf(ctx context.Context, db *pgconn.PgConn, fields []pgconn.FieldDescription) ([]column, error) {
	nested, err := nestedTypes(ctx, db, fields)
	if err != nil {
		return nil, err
	}
	all := make([]column, len(fields))
	for i, f := range fields {
		c := column{text: true, give: func(v []byte, to outside.Rows) { to.Text(v) }}
		switch f.DataTypeOID {
		case numericType:
			c.text = false
		case int2Type, int4Type, int8Type, oidType:
			c = column{give: whole}
		case float4Type, float8Type:
			c = column{give: number}
		case boolType:
			c.give = func(v []byte, to outside.Rows) { to.Bool(string(v) == "t") }
		case timestampType, timestamptzType:
			c.give = instant
		case byteaType:
			return nil, fmt.Errorf("column %q is bytea, which is no text; leave it out of the query", f.Name)
		}
		if nested[fmt.Sprint(f.DataTypeOID)] {
			return nil, fmt.Errorf("column %q is nested; select its parts as columns of their own", f.Name)
		}
		all[i] = c
	}
	return all, nil
}

// nestedTypes are those types of a query that are arrays, ranges or rows.
func nestedTypes(ctx context.Context, db *pgconn.PgConn, fields []pgconn.FieldDescription) (map[string]bool, error) {
	var list []string
	for _, f := range fields {
		list = append(list, fmt.Sprint(f.DataTypeOID))
	}
	const ask = "select oid::text from pg_type where oid = any($1::oid[]) and (typcategory in ('A', 'C', 'R') or typname = 'record')"
	found := db.ExecParams(ctx, ask, [][]byte{[]byte("{" + strings.Join(list, ",") + "}")}, nil, nil, nil).Read()
	nested := map[string]bool{}
	for _, row := range found.Rows {
		nested[string(row[0])] = true
	}
	return nested, found.Err
}

// whole gives a whole number.
func whole(v []byte, to outside.Rows) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		to.Whole(n)
	} else {
		to.Text(v)
	}
}

// number gives a number; infinity and NaN stay as they are.
func number(v []byte, to outside.Rows) {
	if x, err := strconv.ParseFloat(string(v), 64); err == nil && x-x == 0 {
		to.Number(x)
	} else {
		to.Text(v)
	}
}

// instant gives 2024-02-29 12:00:00.5+00 as a time; what is not of that form, such as infinity, stays.
func instant(v []byte, to outside.Rows) {
	if t, err := time.Parse(time.DateTime, string(bytes.TrimSuffix(v, []byte("+00")))); err == nil {
		to.Time(t)
	} else {
		to.Text(v)
	}
}
