package papers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/checkpoint"
	"mercer/internal/engine/option"
)

// version is the first line of a journal.
type version struct {
	Mercer string `json:"mercer"`
}

var thisVersion = version{"reproduce 2"}

// made is a line of a journal: the figures of a row of a table for a seed.
type made struct {
	Table  string    `json:"table"`
	Quick  bool      `json:"quick,omitempty"`
	Seed   int       `json:"seed"`
	Row    string    `json:"row"`
	Values []float64 `json:"values"`
}

// rowsMade are the rows of one table that a journal has, and the journal.
type rowsMade struct {
	table *Table
	quick bool
	file  *checkpoint.Journal
	rows  map[int]map[string][]float64 // by seed and name; while seeds run nothing is added
}

func (t *Table) openJournal(opt Options) (*rowsMade, error) {
	r := &rowsMade{table: t, quick: opt.Quick, rows: map[int]map[string][]float64{}}
	file, err := checkpoint.Open(opt.Journal, thisVersion, func(number int, line []byte) error {
		if number == 1 {
			var v version
			if err := json.Unmarshal(line, &v); err != nil || v != thisVersion {
				return option.Errorf("%s: is not a journal of tables, or one of another version of the program; name "+
					"another file with %s, or delete it",
					opt.Journal, option.Ref("journal"))
			}
			return nil
		}
		var m made
		err := json.Unmarshal(line, &m)
		if err == nil && (m.Seed < 1 || m.Row == "" || len(m.Values) == 0) {
			err = errors.New("no row")
		}
		if err != nil {
			return fmt.Errorf("%s: line %d is not one of a journal of tables (%w); delete the file to start over", opt.Journal, number, err)
		}
		if m.Table != t.Name || m.Quick != opt.Quick {
			return nil
		}
		rows, columns := t.made()
		known := slices.ContainsFunc(t.Rows[:rows], func(row Row) bool { return row.Name == m.Row })
		if !known || len(m.Values) > columns || !opt.Quick && len(m.Values) < columns {
			return fmt.Errorf("%s: line %d has %d figures of %q, which %s does not have; delete the file to start over",
				opt.Journal, number, len(m.Values), m.Row, t.Name)
		}
		if r.rows[m.Seed] == nil {
			r.rows[m.Seed] = map[string][]float64{}
		}
		r.rows[m.Seed][m.Row] = m.Values
		return nil
	})
	r.file = file
	return r, err
}

// all reports whether all rows of a seed are present.
func (r *rowsMade) all(seed int) bool {
	rows, _ := r.table.made()
	return len(r.rows[seed]) == rows
}

// add keeps a row. Figures that are not finite cannot be represented in JSON, and are computed again; so is
// a row that a quick run leaves out.
func (r *rowsMade) add(seed int, row string, values []float64) error {
	if len(values) == 0 {
		return nil
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return r.file.Add(made{r.table.Name, r.quick, seed, row, values})
}
