package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/present"
	"mercer/model"
	"mercer/train"
)

func newInspect() *cobra.Command {
	var (
		data     dataset.Options
		asJSON   bool
		progress string
	)
	cmd := &cobra.Command{
		Use:   "inspect [flags] MODEL|DATA",
		Short: "Tell what a model or a data file holds",
		Long: `Tell what is in a model file (what it predicts, how it was trained, what was chosen and why), in
a text model of LIBSVM or LIBLINEAR, or in a data file (format, rows, columns, labels, and the scaling that train would choose). With
--group, and in a folder, rows are members of bags.`,
		Example: `  mercer inspect adult.mercer
  mercer inspect adult.csv
  mercer inspect adult.mercer --json`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkData(&data); err != nil {
				return err
			}
			if isModel(args[0]) {
				return inspectModel(cmd, args[0], asJSON)
			}
			if kind := foreignKind(args[0]); kind != "" {
				return inspectForeign(cmd, kind, args[0], asJSON)
			}
			p, err := newProgress(cmd, progress)
			if err != nil {
				return err
			}
			if data.Group != "" || isFolder(args[0]) {
				return inspectBags(cmd, args[0], data, p, asJSON)
			}
			return inspectData(cmd, args[0], data, p, asJSON)
		},
	}
	dataFlags(cmd, &data)
	groupFlag(cmd, &data)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	progressFlag(cmd, &progress)
	return cmd
}

// isModel says whether a file looks like a model file: a header of JSON after its length.
func isModel(path string) bool {
	if path == "-" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return strings.HasSuffix(path, ".mercer")
	}
	defer f.Close()
	head := make([]byte, 9)
	n, _ := f.Read(head)
	return strings.HasSuffix(path, ".mercer") || n == 9 && head[8] == '{' && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0
}

func inspectModel(cmd *cobra.Command, path string, asJSON bool) error {
	m, err := model.Load(path)
	if err != nil {
		if s, other := train.LoadStatistics(path); other == nil {
			return inspectStatistics(cmd, path, s, asJSON)
		}
		return err
	}
	if asJSON {
		return present.JSON(cmd.OutOrStdout(), present.InspectModelJSON(present.ModelOf(m)))
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	present.InspectModelText(cmd.OutOrStdout(), present.ModelOf(m), path, st.Size())
	return nil
}

func inspectData(cmd *cobra.Command, path string, opt dataset.Options, p *progress, asJSON bool) error {
	src, err := dataset.Open(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.Survey(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.report("read", rows, share) },
	})
	p.done()
	if err != nil {
		return err
	}
	return tellData(cmd, &present.Data{Name: src.Name(), Schema: *src.Schema(), Summary: sum}, asJSON)
}

// inspectBags is inspectData for bags.
func inspectBags(cmd *cobra.Command, path string, opt dataset.Options, p *progress, asJSON bool) error {
	src, err := dataset.OpenBags(cmd.Context(), path, opt)
	if err != nil {
		return err
	}
	defer src.Close()
	sum, err := dataset.SurveyBags(cmd.Context(), src, dataset.SurveyOptions{
		Progress: func(rows int, share float64) { p.report("read", rows, share) },
	})
	p.done()
	if err != nil {
		return err
	}
	return tellData(cmd, &present.Data{Name: src.Name(), Schema: *src.Schema(), Summary: sum.Summary, Bags: sum}, asJSON)
}

func tellData(cmd *cobra.Command, d *present.Data, asJSON bool) error {
	if asJSON {
		return present.JSON(cmd.OutOrStdout(), d.JSON())
	}
	d.Text(cmd.OutOrStdout())
	return nil
}
