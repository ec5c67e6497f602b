package export

import (
	"fmt"
	"strconv"
	"strings"
)

// dialect is what databases say differently.
type dialect struct {
	name    string
	text    string // the type of texts
	fence   string // after a SELECT whose columns must be computed once, and not again wherever they are used
	once    string // before a SELECT that has a name, so that it is computed and planned once
	larger  string // the function of the largest of its arguments
	less    string
	lateral bool // rows are carried along, and sums over tables of weights are joined to them; else all is one subquery for a row
	shallow bool // its parser bounds how deep SELECTs are one inside the other
	most    int  // columns of a table or a SELECT
	args    int  // arguments of a function
}

// dialects are the databases by the names of targets. A table's row in PostgreSQL has to fit into a page of 8 kB.
var dialects = map[string]*dialect{
	"postgres": {name: "postgres", text: "TEXT", fence: " OFFSET 0", larger: "greatest", less: "least", most: 1000, args: 100},
	"sqlite":   {name: "sqlite", text: "TEXT", fence: " LIMIT -1", larger: "max", less: "min", most: 1900, args: 100, shallow: true},
	"duckdb":   {name: "duckdb", text: "VARCHAR", larger: "greatest", less: "least", most: 4000, args: 100, lateral: true, once: "MATERIALIZED "},
}

const double = "DOUBLE PRECISION"

// quoted is a name as SQL writes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal is a text as SQL writes it. The scripts see to it that a backslash is a backslash.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// digits is a number that all databases read as a fraction, not as a whole number.
func digits(v float64) string { return strconv.FormatFloat(v, 'e', -1, 64) }

// asDouble makes an expression a number of float64.
func asDouble(e string) string { return "CAST(" + e + " AS " + double + ")" }

// joined are terms with an operator between them, in pairs of pairs, since databases bound the depth of an expression.
func joined(op string, terms []string) string {
	switch n := len(terms); n {
	case 0:
		return digits(0)
	case 1:
		return terms[0]
	case 2:
		return "(" + terms[0] + op + terms[1] + ")"
	default:
		return "(" + joined(op, terms[:n/2]) + op + joined(op, terms[n/2:]) + ")"
	}
}

// largest is the largest of values, or the least by the name of another function.
func (d *dialect) largest(function string, of []string) string {
	if len(of) == 1 {
		return of[0]
	}
	for len(of) > d.args {
		var some []string
		for i := 0; i < len(of); i += d.args {
			some = append(some, d.largest(function, of[i:min(len(of), i+d.args)]))
		}
		of = some
	}
	return function + "(" + strings.Join(of, ", ") + ")"
}

func (d *dialect) max(a, b string) string { return d.larger + "(" + a + ", " + b + ")" }

func (d *dialect) min(a, b string) string { return d.less + "(" + a + ", " + b + ")" }

// falling is exp(-z) for z that is not negative. PostgreSQL refuses numbers that vanish.
func falling(z string) string {
	return fmt.Sprintf("CASE WHEN %s < 300 THEN exp(-(%s)) ELSE %s END", z, z, digits(0))
}

// number is a column of numbers, NULL where it is missing.
func (d *dialect) number(c string) string {
	switch d.name {
	case "sqlite": // a cell has a type of its own, and texts that are no numbers would be 0
		return "CASE WHEN typeof(" + c + ") IN ('integer', 'real') THEN CAST(" + c + " AS REAL) WHEN trim(" + c + ") GLOB '*[0-9]*' AND NOT trim(" +
			c + ") GLOB '*[^-+.0-9eE]*' AND NOT trim(" + c + ") GLOB '*[0-9.][-+]*' THEN CAST(" + c + " AS REAL) END"
	case "duckdb":
		return "nullif(TRY_CAST(" + c + " AS DOUBLE), 'NaN'::DOUBLE)"
	}
	return "nullif(CAST(" + c + " AS DOUBLE PRECISION), 'NaN'::DOUBLE PRECISION)"
}

// isText says that a cell is text; in SQLite each has a type of its own.
func (d *dialect) isText(c string) string {
	switch d.name {
	case "sqlite":
		return "typeof(" + c + ") = 'text'"
	case "duckdb":
		return "typeof(" + c + ") = 'VARCHAR'"
	}
	return "pg_typeof(" + c + ") IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)"
}

// plainText is a column of texts without blanks around them, empty where it is missing.
func (d *dialect) plainText(c string) string {
	return "coalesce(trim(CAST(" + c + " AS " + d.text + ")), '')"
}

// moment is a column of dates as what the other functions of dates take.
func (d *dialect) moment(c, layout string) string {
	by := map[string]string{"unix": "1", "unixmilli": "1000", "unixmicro": "1000000", "unixnano": "1000000000"}[layout]
	switch d.name {
	case "sqlite":
		if by != "" {
			return "datetime(" + c + " / " + by + ", 'unixepoch')"
		}
		return "datetime(" + c + ")"
	case "duckdb":
		if by != "" {
			return "make_timestamp(CAST(CAST(" + c + " AS HUGEINT) * 1000000 // " + by + " AS BIGINT))"
		}
		return "CAST(" + c + " AS TIMESTAMP)"
	}
	if by != "" {
		return "to_timestamp(CAST(" + c + " AS DOUBLE PRECISION) / " + by + ") AT TIME ZONE 'UTC'"
	}
	return "CAST(" + c + " AS TIMESTAMP)"
}

// part of a moment: epoch, in seconds, year or doy, the day of the year from 1.
func (d *dialect) part(name, moment string) string {
	if d.name == "sqlite" {
		return "CAST(strftime('" + map[string]string{"epoch": "%s", "year": "%Y", "doy": "%j"}[name] + "', " + moment + ") AS REAL)"
	}
	return asDouble("extract(" + name + " FROM " + moment + ")")
}

// list is an array of numbers; SQLite has none, and takes JSON.
func (d *dialect) list(of []string) string {
	switch d.name {
	case "sqlite":
		return "json_array(" + strings.Join(of, ", ") + ")"
	case "duckdb":
		return "[" + strings.Join(of, ", ") + "]"
	}
	return "ARRAY[" + strings.Join(of, ", ") + "]"
}
