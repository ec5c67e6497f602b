package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"mercer/internal/papers"
	"mercer/internal/report"
)

func newReproduce() *cobra.Command {
	var (
		opt      papers.Options
		list     bool
		asJSON   bool
		progress string
		written  pages
	)
	cmd := &cobra.Command{
		Use:   "reproduce [flags] TABLE...|PAPER",
		Short: "Make tables of the papers again, theirs beside ours",
		Long: `Repeat the experiments behind tables of the papers that Mercer follows, and print the
papers' figures beside its own: mean ± standard deviation over the seeds, and a mark.

  within               no further from the paper's mean than its runs scatter (one standard
                       deviation; ours where it gives none) and its rounding hides
  better, worse        less error, or more accuracy, than that; or the other way round
  differs              of p-values: the digits are not those that the paper prints
  unreadable           the copy of the paper at hand cannot be read there
  not run              left out by --quick
  (no mark)            times, of the paper's machine and of this one, and sizes; one seed where the
                       paper gives no deviation
  data not available   the data set is not in --data, or not to be had

--list has every table and figure of the five papers: what makes it again, or which data it would take
that are not to be had; the name of a paper lists those of that paper. Where the data of a table are not
there the exit code is 1. Of ten seeds a choice of C or λ is made with the first and kept; what no
random number changes runs once; where times are measured seeds run one after the other, else two
at a time.

With --journal every row of a seed is kept as soon as it is made. The same command goes on where one
was stopped or killed, and with more --seeds adds those; only the choices of the first seed are made
again. A journal does not tell whether data or program are the same: delete it when they change.

docs/papers.md has the results, with reasons for what differs. --data is a folder with a
folder for each data set, as published, gzipped or not:

  cifar10/data_batch_1.bin (or data_batch_1_first4000.bin)
  isolet/isolet1+2+3+4.data, isolet/isolet5.data
  mnist/train-images-idx3-ubyte, mnist/t10k-images-idx3-ubyte
  mnist/train-labels-idx1-ubyte, mnist/t10k-labels-idx1-ubyte
  w8a/w8a, ijcnn1/ijcnn1.trn.bz2, ijcnn1/ijcnn1.tst.bz2
  covtype/covtype.data (or covtype.sample403k.data)
  cpu_act/cpu.act.arff, a9a/a9a, a9a/a9a.t, kddcup99/kddcup.data_10_percent, kddcup99/corrected
  wikipedia_sift/image_sift_bow128.{train,test}.csv, outdoor_colorhist/outdoorStream.{data,labels},
  optdigits/optdigits.{tra,tes}, spambase/spambase.data, reuters_r8/R8.txt, reuters_r8/R8.clean.txt`,
		Example: `  mercer reproduce --list
  mercer reproduce LS18
  mercer reproduce S14-4.1
  mercer reproduce LS19-4.2 LS19-4.3 --data ~/data --quick
  mercer reproduce LS19-4.4 --data ~/data --journal tables.jsonl
  mercer reproduce S14-4.1 S14-F4.1 --seeds 16 --report s14.html --plots pictures`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !list {
				return usagef("no table; give a TABLE of --list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if asked, err := papersOf(args, list); err != nil || asked != nil {
				if err != nil {
					return err
				}
				return listTables(out, asked, asJSON)
			}
			if opt.Seeds < 1 {
				return usagef("--seeds %d: give 1 or more", opt.Seeds)
			}
			if opt.Quick && cmd.Flags().Changed("seeds") && opt.Seeds > 1 {
				return usagef("--quick is one seed; leave out --seeds %d, or --quick", opt.Seeds)
			}
			var tables []*papers.Table
			for _, name := range args {
				t, err := papers.Find(name)
				if err != nil {
					return usageError{err}
				}
				tables = append(tables, t)
			}
			p, err := newProgress(cmd, progress)
			if err != nil {
				return err
			}
			defer p.done()
			if err := written.check(opt.Journal); err != nil {
				return err
			}
			page := &report.Page{Title: "Tables of the papers, theirs and ours", Subtitle: strings.Join(args, ", ")}
			var results []reproduced
			var missing []string // tables without data
			for i, t := range tables {
				opt.Progress = func(share float64) { p.report(t.Name, 0, share) }
				start := time.Now()
				r, err := papers.Run(cmd.Context(), t, opt)
				if opt.Journal != "" {
					err = goesOn(cmd.Context(), err, opt.Journal)
				}
				if err != nil {
					return err
				}
				p.done()
				if r.Missing != "" {
					missing = append(missing, t.Name)
				}
				ran := ranText(r, time.Since(start))
				if written.wanted() {
					if err := reproducedSection(page, r, ran); err != nil {
						return err
					}
				}
				if asJSON {
					results = append(results, newReproduced(r))
					continue
				}
				if i > 0 {
					fmt.Fprintln(out)
				}
				printTable(out, r, ran)
			}
			if written.wanted() && !asJSON {
				fmt.Fprintln(out)
			}
			if err := written.write(cmd, page, asJSON); err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(out, results); err != nil {
					return err
				}
			}
			return lacking(missing, opt.Dir)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the tables, what data and time they need, and all tables and figures of the papers")
	f.StringVar(&opt.Dir, "data", ".", "folder with a folder for each data set")
	f.IntVar(&opt.Seeds, "seeds", 10, "how many runs, of seeds 1, 2, …")
	f.StringVar(&opt.Journal, "journal", "", "file that keeps what is done, to go on or to add seeds")
	f.BoolVar(&opt.Quick, "quick", false, "one seed, fewer rows and, where columns are expensive, only the first")
	f.BoolVar(&asJSON, "json", false, "print one JSON array instead of text")
	pageFlags(cmd, &written)
	progressFlag(cmd, &progress)
	return cmd
}

// listed is a table of the list as JSON, and listedItem a table or figure of a paper.
type listed struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Source  string  `json:"source"`
	Data    string  `json:"data,omitempty"`
	Seconds float64 `json:"seconds"` // about, of one seed
}

type listedItem struct {
	Paper  string   `json:"paper"`
	Number string   `json:"number"`
	Shows  string   `json:"shows"`
	By     []string `json:"by,omitempty"`
	Mark   string   `json:"mark,omitempty"`
	How    string   `json:"-"` // both
}

// papersOf are the papers whose tables are to be listed: those that the arguments name, or all with --list
// alone; nil where tables are to be made.
func papersOf(args []string, list bool) (of []string, err error) {
	known := papers.Papers()
	if list && len(args) == 0 {
		return known, nil
	}
	for _, name := range args {
		if i := slices.IndexFunc(known, func(p string) bool { return strings.EqualFold(p, name) }); i >= 0 {
			of = append(of, known[i])
		} else if list {
			return nil, usagef("%q is not a paper; --list takes %s, or nothing for all of them", name, strings.Join(known, ", "))
		}
	}
	if of != nil && len(of) < len(args) {
		return nil, usagef("%s is a paper, whose tables are listed, and others are tables to be made; give one kind of names", of[0])
	}
	return of, nil
}

// lacking is the error that tables could not be made.
func lacking(tables []string, dir string) error {
	if tables == nil {
		return nil
	}
	return fmt.Errorf("there are no data in %s for %s; --data names the folder of the data sets", dir, strings.Join(tables, ", "))
}

// listTables prints what tables there are of some papers, and every table and figure of these with what
// makes it again, or why nothing does.
func listTables(w io.Writer, of []string, asJSON bool) error {
	var list struct {
		Tables []listed     `json:"tables"`
		Items  []listedItem `json:"items"`
	}
	for _, t := range papers.Tables() {
		if !slices.Contains(of, t.Paper()) {
			continue
		}
		list.Tables = append(list.Tables, listed{t.Name, t.Title, t.Source, t.Data, t.Cost})
	}
	for _, i := range papers.Inventory() {
		if !slices.Contains(of, i.Paper) {
			continue
		}
		list.Items = append(list.Items, listedItem{i.Paper, i.Number, i.Shows, i.By, i.Mark(), i.How()})
	}
	if asJSON {
		return printJSON(w, list)
	}
	fmt.Fprintln(w, "Tables that can be made again: name, data, about how long one seed takes on two cores, title")
	for _, t := range list.Tables {
		data := t.Data
		if data == "" {
			data = "-"
		}
		fmt.Fprintf(w, "  %-15s%-16s%8s  %s\n", t.Name, data, roughly(t.Seconds), t.Title)
	}
	fmt.Fprintln(w, "\nTables and figures of the papers: what makes them again, or why nothing does")
	for _, i := range list.Items {
		fmt.Fprintf(w, "  %-6s%s, %s\n        %s\n", i.Paper, i.Number, i.Shows, i.How)
	}
	return nil
}

// roughly is a time of which one digit counts.
func roughly(seconds float64) string {
	switch {
	case seconds < 1:
		return "< 1 s"
	case seconds < 100:
		return fmt.Sprintf("%.0f s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// ranText says how a result came about.
func ranText(r *papers.Result, took time.Duration) string {
	switch {
	case r.Missing != "":
		return fmt.Sprintf("data not available: there is no %s; --data names the folder of the data sets", r.Missing)
	case r.Quick:
		return "one seed, quick, " + secondsText(took)
	case r.Certain:
		return "one run, as nothing is random, " + secondsText(took)
	case r.Seeds == 1:
		return "one seed, " + secondsText(took)
	}
	return fmt.Sprintf("mean ± standard deviation of %d seeds, %s", r.Seeds, secondsText(took))
}

// printTable prints a table for a person: for each row a line of theirs and one of ours.
func printTable(w io.Writer, r *papers.Result, ran string) {
	fmt.Fprintf(w, "%s  %s\n%s\n", r.Name, r.Title, r.Source)
	for _, line := range wrap(r.Protocol, 110) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintf(w, "ours: %s\n", ran)
	first := utf8.RuneCountInString(r.Corner)
	for _, row := range r.Rows {
		first = max(first, utf8.RuneCountInString(row.Name))
	}
	width := make([]int, len(r.Columns))
	ours := make([][]string, len(r.Rows))
	for j, c := range r.Columns {
		width[j] = utf8.RuneCountInString(c)
		for i, row := range r.Rows {
			var theirs papers.Figure
			if row.Theirs != nil {
				theirs = row.Theirs[j]
			}
			ours[i] = append(ours[i], cellText(r.Cells[i][j], theirs))
			width[j] = max(width[j], utf8.RuneCountInString(ours[i][j]), utf8.RuneCountInString(theirsText(theirs)))
		}
	}
	line := func(name, who string, cells func(j int) string) {
		text := pad(name, first) + "  " + pad(who, 6)
		for j := range r.Columns {
			text += "  " + pad(cells(j), width[j])
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	fmt.Fprintln(w)
	line(r.Corner, "", func(j int) string { return r.Columns[j] })
	for i, row := range r.Rows {
		name := row.Name
		if row.Theirs != nil {
			line(name, "theirs", func(j int) string { return theirsText(row.Theirs[j]) })
			name = ""
		}
		line(name, "ours", func(j int) string { return ours[i][j] })
	}
}

func theirsText(f papers.Figure) string { return strings.Replace(f.Text, "±", " ± ", 1) }

// cellText is our figure and its mark: with one decimal more than theirs has, or four digits where
// there is none of theirs.
func cellText(c papers.Cell, theirs papers.Figure) string {
	if c.Mark == papers.NoData || c.Mark == papers.NotRun {
		return string(c.Mark)
	}
	decimals := 4
	format := "%.*f"
	if mean, _, _ := strings.Cut(theirs.Text, "±"); theirs.Readable() {
		mean, _, power := strings.Cut(mean, "e")
		if power {
			format = "%.*e"
		}
		_, digits, _ := strings.Cut(mean, ".")
		decimals = len(digits) + 1
	} else if theirs.Text == "" && c.Mean != 0 && math.Abs(c.Mean) < 1e-9 {
		decimals, format = 3, "%.*e"
	} else if theirs.Text == "" && c.Mean != 0 {
		decimals = max(0, 3-int(math.Floor(math.Log10(math.Abs(c.Mean)))))
	}
	text := fmt.Sprintf(format, decimals, c.Mean)
	if c.SD > 0 {
		text += fmt.Sprintf(" ± "+format, decimals, c.SD)
	}
	if c.Mark == papers.Unreadable || c.Mark == papers.NoFigure {
		return text
	}
	return text + " " + string(c.Mark)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// reproduced is a result as JSON.
type reproduced struct {
	Name    string           `json:"name"`
	Title   string           `json:"title"`
	Source  string           `json:"source"`
	Missing string           `json:"missing,omitempty"`
	Seeds   int              `json:"seeds"`
	Quick   bool             `json:"quick"`
	Cells   []reproducedCell `json:"cells"`
}

// reproducedCell is a cell: theirs is absent where it cannot be read, ours where it was not
// computed.
type reproducedCell struct {
	Row    string      `json:"row"`
	Column string      `json:"column"`
	Theirs *meanAndSD  `json:"theirs,omitempty"`
	Ours   *meanAndSD  `json:"ours,omitempty"`
	Mark   papers.Mark `json:"mark,omitempty"`
}

type meanAndSD struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd,omitempty"`
}

func newReproduced(r *papers.Result) reproduced {
	out := reproduced{Name: r.Name, Title: r.Title, Source: r.Source, Missing: r.Missing, Seeds: r.Seeds, Quick: r.Quick}
	for i, row := range r.Rows {
		for j, column := range r.Columns {
			ours := r.Cells[i][j]
			c := reproducedCell{Row: row.Name, Column: column, Mark: ours.Mark}
			if row.Theirs != nil && row.Theirs[j].Readable() {
				c.Theirs = &meanAndSD{row.Theirs[j].Mean, row.Theirs[j].SD}
			}
			if ours.Mark != papers.NoData && ours.Mark != papers.NotRun {
				c.Ours = &meanAndSD{ours.Mean, ours.SD}
			}
			out.Cells = append(out.Cells, c)
		}
	}
	return out
}
