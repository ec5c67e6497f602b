package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/units"
	"mercer/model"
	"mercer/train"
)

func newInspect() *cobra.Command {
	var (
		data     dataset.Options
		asJSON   bool
		progress string
		schema   string
		file     string
		pages    Pages
	)
	cmd := &cobra.Command{
		Use:   "inspect [flags] MODEL|DATA",
		Short: "Tell what a model or a data file holds",
		Long: `Tell what is in a model file (what it predicts, how it was trained, what was chosen and why), in
a text model of LIBSVM or LIBLINEAR, or in a data file (format, rows, columns, labels, and the scaling that train would choose). With
--group, and in a folder, rows are members of bags.

--report writes a page: of data, its columns with pictures; of a model, its card: how good it was on other rows, what it was trained on, what
matters to it, the ranges it has seen, hashes, and the command that makes it again.`,
		Example: `  mercer inspect adult.mercer
  mercer inspect adult.csv
  mercer inspect adult.mercer --report card.html --data adult.csv
  mercer inspect adult.mercer --json`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkData(&data); err != nil {
				return err
			}
			if isModel(args[0]) {
				return inspectModel(cmd, args[0], file, asJSON, &pages)
			}
			if file != "" {
				return usagef("--data is for the card of a model; %s is none of mercer train", args[0])
			}
			if kind := foreignKind(args[0]); kind != "" {
				return inspectForeign(cmd, kind, args[0], asJSON)
			}
			p, err := NewProgress(cmd, progress)
			if err != nil {
				return err
			}
			if data.Group != "" || bagFolder(args[0], &data) {
				return inspectBags(cmd, args[0], data, p, asJSON)
			}
			return inspectData(cmd, args[0], data, p, asJSON, schema, &pages)
		},
	}
	dataFlags(cmd, &data)
	labelFlags(cmd, &data)
	groupFlag(cmd, &data)
	cmd.Flags().StringVar(&schema, "schema", "", "file to write the kinds of the columns of a table to, to be edited and given to train --schema")
	cmd.Flags().StringVar(&file, "data", "", "file that a model was trained on, whose hash its card (--report) tells")
	PageFlags(cmd, &pages)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &progress)
	return cmd
}

// isModel says whether a file looks like a model file: a header of JSON after its length.
func isModel(path string) bool {
	if path == "-" {
		return false
	}
	head, _ := peek(path, 9)
	return strings.HasSuffix(path, ".mercer") || len(head) == 9 && head[8] == '{' && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0
}

func inspectModel(cmd *cobra.Command, path, data string, asJSON bool, pages *Pages) error {
	if err := pages.Check(path, data); err != nil {
		return err
	}
	if data != "" && !pages.Wanted() {
		return usagef("--data is for the card of a model; give --report as well")
	}
	m, err := model.Load(path)
	if err != nil {
		if s, other := train.LoadStatistics(path); other == nil {
			return inspectStatistics(cmd, path, s, asJSON)
		}
		return err
	}
	if pages.Wanted() {
		page, err := cardPage(m, path, data)
		if err != nil {
			return err
		}
		if err := pages.Write(cmd, page, asJSON); err != nil {
			return err
		}
	}
	if asJSON {
		return render.JSON(cmd.OutOrStdout(), render.InspectModelJSON(render.ModelOf(m)))
	}
	size, err := bytesOf(path)
	if err != nil {
		return err
	}
	render.InspectModelText(cmd.OutOrStdout(), render.ModelOf(m), path, size)
	return nil
}

func inspectData(cmd *cobra.Command, path string, opt dataset.Options, p *Progress, asJSON bool, schema string, pages *Pages) error {
	if err := pages.Check(path, schema); err != nil {
		return err
	}
	var arrays []string
	opt.Columns.Exact, opt.LabelsOptional = true, true
	opt.Columns.Notice = func(n dataset.Notice) { // those of columns are told with these
		if n.Kind == "arrays" {
			arrays = append(arrays, oneLine(n.Err))
		}
	}
	src, err := dataset.Open(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.Survey(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.Report("read", rows, share) },
	})
	p.Done()
	if err != nil {
		return err
	}
	d := &render.Data{Name: src.Name(), Schema: *src.Schema(), Summary: sum, Profile: src.Profile(), Notices: arrays}
	for i := range src.Notices() {
		d.Notices = append(d.Notices, oneLine(src.Notices()[i].Err))
	}
	if note := unlabelledNote(d.Profile); note != "" {
		d.Notices = append(d.Notices, note)
	}
	if classes, err := sum.Classes(); err == nil && len(src.Schema().Labels) < 2 {
		if one, other, ok := classes.Alike(); ok {
			d.Notices = append(d.Notices, fmt.Sprintf("the classes %q and %q look alike; if they are one, give their rows one label", one, other))
		}
	}
	if schema != "" {
		if err := writeKinds(schema, path, d.Profile); err != nil {
			return err
		}
	}
	if pages.Wanted() {
		if err := pages.Write(cmd, render.DataPage(d), asJSON); err != nil {
			return err
		}
	}
	return tellData(cmd, d, asJSON)
}

// unlabelledNote says what training does about rows without a label, "" if there are none.
func unlabelledNote(p *dataset.Profile) string {
	if p == nil {
		return ""
	}
	for _, column := range p.Columns {
		if column.Kind == dataset.KindLabel && column.Missing > 0 {
			return fmt.Sprintf("the label %q is missing in %s of %s; --drop-unlabelled leaves them out of a training or an evaluation, which stops otherwise",
				column.Name, units.Count(column.Missing), units.Plural(p.Rows, "row"))
		}
	}
	return ""
}

// writeKinds writes the kinds of the columns of a table to a file.
func writeKinds(out, path string, p *dataset.Profile) error {
	if err := checkApart([]namedFile{{"--schema", out}}, namedFile{"DATA", path}); err != nil {
		return err
	}
	if p == nil {
		return usagef("--schema is for tables, whose columns have kinds; %s is none", path)
	}
	f, err := atomicfile.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := p.Kinds().Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// inspectBags is inspectData for bags.
func inspectBags(cmd *cobra.Command, path string, opt dataset.Options, p *Progress, asJSON bool) error {
	src, err := dataset.OpenBags(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.SurveyBags(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.Report("read", rows, share) },
	})
	p.Done()
	if err != nil {
		return err
	}
	return tellData(cmd, &render.Data{Name: src.Name(), Schema: *src.Schema(), Summary: sum.Summary, Bags: sum}, asJSON)
}

func tellData(cmd *cobra.Command, d *render.Data, asJSON bool) error {
	if asJSON {
		return render.JSON(cmd.OutOrStdout(), d.JSON())
	}
	d.Text(cmd.OutOrStdout())
	return nil
}
