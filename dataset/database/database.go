// Package database lets Mercer train on the rows of databases: SQLite files, and PostgreSQL servers by URLs such as
// postgres://host/name. A program imports it for that alone:
//
//	import _ "mercer/dataset/database"
//
// The rows are those of Options.Query or Options.Table of package dataset. They are read once, in one transaction that cannot
// write, and kept, in an unlinked temporary file if they are many, so that all passes of a training see the same rows.
package database

import "mercer/internal/read/outside"

func init() {
	outside.Register(outside.Reader{Takes: isSQLite, Name: func(path string) string { return path }, Read: readSQLite})
	outside.Register(outside.Reader{Takes: isPostgres, Name: nameOf, Read: readPostgres})
}

// longestText bounds a value.
const longestText = 64 << 20
