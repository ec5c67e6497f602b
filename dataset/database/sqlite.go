package database

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"mercer/internal/engine/option"
	"mercer/internal/read/outside"
)

const sqliteMagic = "SQLite format 3\x00"

func isSQLite(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(sqliteMagic)) }

// readSQLite reads rows of a file. Values are as the sqlite3 program prints them: a column has no type that its values must keep.
func readSQLite(ctx context.Context, r outside.Request, to outside.Rows) error {
	if err := eachSQLite(ctx, r, to); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	return nil
}

func eachSQLite(ctx context.Context, r outside.Request, to outside.Rows) (err error) {
	if err := checkSize(r.Path); err != nil {
		return err
	}
	db, err := sqlite3.OpenFlags(r.Path, sqlite3.OPEN_READONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetInterrupt(ctx)
	db.Limit(sqlite3.LIMIT_LENGTH, longestText)
	if _, err := db.Config(sqlite3.DBCONFIG_DEFENSIVE, true); err != nil {
		return err
	}
	if err := db.Exec("PRAGMA query_only = on; PRAGMA trusted_schema = off; PRAGMA temp_store = memory"); err != nil {
		return err
	}
	query := r.Query
	if query == "" {
		table, err := sqliteTable(db, r.Table)
		if err != nil {
			return err
		}
		query = "select * from " + sqlite3.QuoteIdentifier(table)
	}
	stmt, rest, err := db.Prepare(query)
	if err != nil {
		return err
	}
	if stmt == nil {
		return option.Errorf("%s is empty", option.Ref("query"))
	}
	defer stmt.Close()
	switch {
	case strings.Trim(rest, " \t\r\n;") != "":
		return option.Errorf("%s has more than one statement; give one", option.Ref("query"))
	case !stmt.ReadOnly() || stmt.ColumnCount() == 0:
		return option.Errorf("%s gives no rows; give a SELECT", option.Ref("query"))
	}
	var names []string
	for i := range stmt.ColumnCount() {
		names = append(names, stmt.ColumnName(i))
	}
	if err := to.Begin(names, make([]bool, len(names))); err != nil {
		return err
	}
	for row := 1; stmt.Step(); row++ {
		for i := range names {
			switch stmt.ColumnType(i) {
			case sqlite3.NULL:
				to.Missing()
			case sqlite3.INTEGER:
				to.Whole(stmt.ColumnInt64(i))
			case sqlite3.FLOAT:
				v := stmt.ColumnFloat(i)
				if math.IsInf(v, 0) {
					return fmt.Errorf("row %d, column %q: %g is not a finite number", row, names[i], v)
				}
				to.Number(v)
			default:
				to.Text(stmt.ColumnRawBlob(i))
			}
		}
		if err := to.End(); err != nil {
			return err
		}
	}
	return stmt.Err()
}

// checkSize finds out whether a file is as long as it says: SQLite reads what is missing as zeros.
func checkSize(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); err != nil {
		return errors.New("the database is cut short")
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	size := page * int64(binary.BigEndian.Uint32(head[28:]))
	const walMode = 2 // pages may be in another file
	if bytes.Equal(head[24:28], head[92:96]) && head[18] != walMode && st.Size() < size {
		return fmt.Errorf("the database is cut short: %d of %d bytes", st.Size(), size)
	}
	return nil
}

// sqliteTable is the table to be read: the only one, if none is named.
func sqliteTable(db *sqlite3.Conn, asked string) (string, error) {
	stmt, _, err := db.Prepare("select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' order by name")
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	var all []string
	for stmt.Step() {
		if all = append(all, stmt.ColumnText(0)); strings.EqualFold(all[len(all)-1], asked) {
			return asked, nil
		}
	}
	if err := stmt.Err(); err != nil {
		return "", err
	}
	const most = 12
	list := strings.Join(all[:min(len(all), most)], ", ")
	if len(all) > most {
		list += fmt.Sprintf(" and %d more", len(all)-most)
	}
	switch {
	case len(all) == 0:
		return "", errors.New("the database has no tables")
	case asked != "":
		return "", option.Errorf("there is no table %q for %s; the tables are %s", asked, option.Ref("table"), list)
	case len(all) > 1:
		return "", option.Errorf("the database has %d tables: %s; name one by %s, or give a %s", len(all), list, option.Ref("table"), option.Ref("query"))
	}
	return all[0], nil
}
