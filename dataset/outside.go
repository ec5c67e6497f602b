package dataset

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mercer/internal/engine/option"
	"mercer/internal/engine/remote"
	"mercer/internal/engine/units"
	"mercer/internal/read/outside"
)

// Local says whether a path is of a file or a folder, rather than of a database or another machine.
func Local(path string) bool {
	return !strings.Contains(path, "://")
}

// Database says whether a path is of a database: an SQLite file or a postgres:// URL. Package database reads them.
func Database(path string) bool {
	return isPostgres(path) || isSQLite(path)
}

func isPostgres(path string) bool {
	s := schemeOf(path)
	return s == "postgres" || s == "postgresql"
}

const sqliteMagic = "SQLite format 3\x00"

func isSQLite(path string) bool { return string(beginning(path)) == sqliteMagic }

// beginning is the first bytes of an ordinary file; nil if there is none.
func beginning(path string) []byte {
	if st, err := os.Stat(path); path == "-" || err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, _ := f.Read(head)
	return head[:n]
}

// openData opens a file, standard input, or the rows of a database.
func openData(ctx context.Context, path string, opt Options) (*packed, error) {
	if reader := outside.For(path, beginning(path)); reader != nil {
		key := strings.Join([]string{path, opt.Query, opt.Table}, "\x00")
		return ledgerOf(ctx).keep(key, func() (*packed, error) { return spoolRows(ctx, reader, path, opt) })
	}
	switch {
	case isPostgres(path) || isSQLite(path):
		return nil, fmt.Errorf("%s: this program reads no databases; import mercer/dataset/database in it", filepath.Base(ShownPath(path)))
	case opt.Query != "":
		return nil, option.Errorf("%s: %s is for databases: an SQLite file, or postgres://…", path, option.Ref("query"))
	case opt.Table != "":
		return nil, option.Errorf("%s: %s is for databases: an SQLite file, or postgres://…", path, option.Ref("table"))
	}
	if isWeb(path) {
		return ledgerOf(ctx).keep(path, func() (*packed, error) { return fetched(ctx, path, opt.Columns.Progress) })
	}
	if remote.Is(path) {
		return ledgerOf(ctx).keep(path, func() (*packed, error) { return openObject(ctx, path) })
	}
	if !Local(path) {
		return nil, fmt.Errorf("%s: addresses of this kind are not read; read are http://, https://, s3:// and postgres://", shownAddress(path))
	}
	return openInput(ctx, path)
}

// openObject opens an object of a store, which must be as it was before.
func openObject(ctx context.Context, path string) (*packed, error) {
	o, err := remote.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := ledgerOf(ctx).sameVersion(path, o.Version()); err != nil {
		o.Close()
		return nil, err
	}
	p, err := newPacked(path, o, o.Size())
	if err == nil {
		p.version = o.Version()
	}
	return p, err
}

func isWeb(path string) bool {
	s := schemeOf(path)
	return s == "http" || s == "https"
}

// schemeOf is that of an address, in small letters; "" if a path is none.
func schemeOf(path string) string {
	s, _, is := strings.Cut(path, "://")
	if !is {
		return ""
	}
	return strings.ToLower(s)
}

// shownAddress is an address without what might be secret.
func shownAddress(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		scheme, _, _ := strings.Cut(path, "://")
		return scheme + "://…"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// ShownPath is a path, or an address without what might be secret in it.
func ShownPath(path string) string {
	if Local(path) || remote.Is(path) { // whose secrets are in the environment
		return path
	}
	return shownAddress(path)
}

// mostFetched bounds what is copied from another machine.
const mostFetched = 64 << 30

// fetched copies what is at an address to a temporary file.
func fetched(ctx context.Context, path string, progress func(rows int, share float64)) (*packed, error) {
	name := shownAddress(path)
	if outside.Fetch == nil {
		return nil, fmt.Errorf("%s: this program reads no addresses; import mercer/dataset/fetch in it", name)
	}
	if progress == nil {
		progress = func(int, float64) {}
	}
	progress(0, -1)
	in, err := func() (*packed, error) {
		r, size, err := outside.Fetch(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer r.Close()
		tooLarge := fmt.Errorf("%s: there are more than %s; copy it to this machine first", name, units.Bytes(int64(mostFetched)))
		if size > mostFetched {
			return nil, tooLarge
		}
		in, err := spool(name, &watched{r: io.LimitReader(r, mostFetched), size: size, progress: progress})
		if err == nil && in.size == mostFetched {
			in.Close()
			return nil, tooLarge
		}
		return in, err
	}()
	if ctx.Err() != nil && err != nil {
		return nil, ctx.Err()
	}
	return in, err
}

// watched tells how much of something has been read.
type watched struct {
	r          io.Reader
	read, size int64
	progress   func(rows int, share float64)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.read += int64(n); w.size > 0 {
		w.progress(0, float64(w.read)/float64(w.size))
	} else {
		w.progress(0, -1)
	}
	return n, err
}

// spoolRows keeps rows that come once.
func spoolRows(ctx context.Context, reader *outside.Reader, path string, opt Options) (*packed, error) {
	name := reader.Name(path)
	if opt.Query != "" && opt.Table != "" {
		return nil, option.Errorf("%s: give %s or %s, not both", name, option.Ref("query"), option.Ref("table"))
	}
	s := &rowSpool{ctx: ctx, cellSpool: cellSpool{name: name}, progress: opt.Columns.Progress}
	err := reader.Read(ctx, outside.Request{Path: path, Query: opt.Query, Table: opt.Table}, s)
	if err == nil {
		err = s.flush()
	}
	if err == nil && s.rows == 0 {
		err = fmt.Errorf("%s: the query has no rows", name)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return &packed{name: name, file: s, typed: s}, nil
}

// rowSpool takes the rows of a database.
type rowSpool struct {
	cellSpool
	ctx      context.Context
	row      []cell
	text     []byte // of row
	progress func(rows int, share float64)
}

var _ outside.Rows = (*rowSpool)(nil)

func (s *rowSpool) Begin(names []string, texts []bool) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("two columns are called %q; give one of them another name (AS)", name)
		}
		s.columns = append(s.columns, field{name, texts[i]})
	}
	return nil
}

func (s *rowSpool) Missing()         { s.row = append(s.row, cell{}) }
func (s *rowSpool) Number(v float64) { s.row = append(s.row, cell{kind: cellNumber, number: v}) }
func (s *rowSpool) Whole(v int64)    { s.row = append(s.row, cell{kind: cellWhole, whole: v}) }

func (s *rowSpool) Bool(v bool) {
	s.Missing()
	s.row[len(s.row)-1].setBool(v)
}

func (s *rowSpool) Time(v time.Time) {
	s.Missing()
	s.row[len(s.row)-1].setTime(v)
}

func (s *rowSpool) Text(v []byte) {
	s.Missing()
	setText(&s.row[len(s.row)-1], v, &s.text)
}

func (s *rowSpool) End() error {
	for i := range s.row {
		if err := checkText(s.row[i].text); err != nil {
			return fmt.Errorf("row %d, column %q: %w", s.rows+1, s.columns[i].name, err)
		}
	}
	err := s.add(s.row)
	s.row, s.text = s.row[:0], s.text[:0]
	if s.rows%1024 == 0 && err == nil {
		err = s.ctx.Err()
	}
	if s.progress != nil && s.rows%(16<<10) == 0 {
		s.progress(s.rows, -1)
	}
	return err
}
