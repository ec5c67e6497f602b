package cli

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/reach/neighbours"
	"mercer/internal/solve/pipeline"
)

// searching is the state of the command search.
type searching struct {
	data dataset.Options
	opt  neighbours.Options
	json bool
}

func newSearch() *cobra.Command {
	s := &searching{}
	cmd := &cobra.Command{
		Use:   "search [flags] INDEX QUERIES",
		Short: "Find the nearest rows of an index",
		Long: `Find the rows of INDEX, made by mercer index, that are nearest to each row of QUERIES. Each query gets a line of its number
and of its neighbours, nearest first, as NUMBER:DISTANCE; rows and queries are counted from 0.

The distance is that of the features, about √(k(x, x) + k(y, y) − 2k(x, y)). A search compares the features of
all rows; with --candidates, only those of the rows whose codes are nearest, which finds most of the same neighbours in
less time; with --probes, those of the rows in the cells nearest to the query. More find more of them.`,
		Example: `  mercer search images.index queries.npy --k 10
  mercer search histograms.index queries.csv --k 5 --candidates 500 --json`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.IntVar(&s.opt.K, "k", 10, "neighbours of each query")
	f.IntVar(&s.opt.Candidates, "candidates", 0, "rows whose features are compared, chosen by their codes (default 0: all rows)")
	f.IntVar(&s.opt.Probes, "probes", 0, "cells, nearest to a query, whose rows are compared (default 0: all)")
	dataFlags(cmd, &s.data)
	f.BoolVar(&s.json, "json", false, "print one JSON object a query: its number, and its neighbours with id and distance")
	return cmd
}

func (s *searching) run(cmd *cobra.Command, path, queries string) error {
	switch {
	case s.opt.K < 1:
		return usagef("--k %d: give 1 or more", s.opt.K)
	case s.opt.Candidates != 0 && s.opt.Candidates < s.opt.K:
		return usagef("--candidates %d: give --k (%d) or more, or 0 for all rows", s.opt.Candidates, s.opt.K)
	}
	if s.opt.Probes < 0 || s.opt.Probes > 0 && s.opt.Candidates != 0 {
		return usagef("--probes %d: give 1 or more cells, and no --candidates beside", s.opt.Probes)
	}
	if err := checkData(&s.data); err != nil {
		return err
	}
	index, err := neighbours.Open(path)
	if err != nil {
		return err
	}
	defer index.Close()
	if s.opt.Candidates != 0 && index.Info().Codes == "" {
		return fmt.Errorf("%s has no codes, so --candidates does not apply; leave it out, or make the index with --codes", path)
	}
	if s.opt.Probes != 0 && index.Info().Cells == 0 {
		return fmt.Errorf("%s has no cells, so --probes does not apply; leave it out, or make the index with --cells", path)
	}
	data := s.data
	data.LabelsOptional = true
	data.Schema = &index.Info().Schema
	src, err := dataset.Open(cmd.Context(), queries, data)
	if err != nil {
		return err
	}
	defer src.Close()
	w := bufio.NewWriter(cmd.OutOrStdout())
	for b, err := range dataset.Each(cmd.Context(), src) {
		if err != nil {
			return err
		}
		for i := 0; i < b.X.Len(); i += pipeline.Chunk {
			found, err := index.Search(b.X.Slice(i, min(i+pipeline.Chunk, b.X.Len())), s.opt)
			if err != nil {
				return pipeline.Refused(err, src, b.First+i)
			}
			for q, list := range found {
				if err := s.print(w, b.First+i+q, list); err != nil {
					return err
				}
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	warnUnseen(cmd, unseenIn(src))
	return nil
}

// print writes the neighbours of a query.
func (s *searching) print(w *bufio.Writer, query int, list []neighbours.Neighbour) error {
	if s.json {
		return render.JSON(w, struct {
			Query      int                    `json:"query"`
			Neighbours []neighbours.Neighbour `json:"neighbours"`
		}{query, list})
	}
	line := strconv.AppendInt(w.AvailableBuffer(), int64(query), 10)
	for _, n := range list {
		line = append(strconv.AppendInt(append(line, ' '), n.ID, 10), ':')
		line = strconv.AppendFloat(line, n.Distance, 'g', 7, 64)
	}
	_, err := w.Write(append(line, '\n'))
	return err
}
