package tune

import (
	"fmt"
	"hash/crc64"

	"mercer/dataset"
	"mercer/train"
)

// look surveys the data and divides the rows: one pass for the survey, one for the class and group of each
// row and a hash of all.
func (s *search) look(space Space) error {
	base, err := space.first()
	if err != nil {
		return err
	}
	base.Map.GroupWeights = "" // which are chosen in each fold
	if s.base, err = train.Prepare(s.ctx, s.src, base, train.Options{Memory: s.opt.Memory}); err != nil {
		return err
	}
	info := s.base.Info()
	if s.opt.Surveyed != nil {
		if err := s.opt.Surveyed(info.Schema); err != nil {
			return err
		}
	}
	s.result = &Result{Task: info.Task, Rows: s.base.Summary().Rows}
	if s.metric, err = metricOf(s.opt.Metric, info.Task); err != nil {
		return err
	}
	s.result.Metric, s.result.Larger = s.metric.name, s.metric.larger
	rows, err := s.lookAtRows()
	if err != nil {
		return err
	}
	if s.division, err = s.opt.Folds.divide(rows); err != nil {
		return fmt.Errorf("%s: %w", s.src.Name(), err)
	}
	if s.opt.Search == "halving" {
		s.rows = rows
	}
	s.opt.Folds.Kind = s.division.Kind
	s.result.Folds, s.result.Splits = s.opt.Folds, len(s.division.Splits)
	s.result.Timed = s.opt.Times != nil && s.division.Kind == "time"
	for _, w := range s.division.Warnings {
		s.warn(w)
	}
	return nil
}

// lookAtRows finds the class and the group of each row, and hashes them all.
func (s *search) lookAtRows() (rowsInfo, error) {
	info := rowsInfo{classes: s.base.Info().Classes, times: s.opt.Times}
	var classes *dataset.Classes
	if info.classes != nil {
		classes = dataset.NewClasses(info.classes)
	}
	groups := map[string]int32{}
	h := &rowHash{table: crc64.MakeTable(crc64.ECMA)}
	for b, err := range dataset.Each(s.ctx, s.src) {
		if err != nil {
			return info, err
		}
		for i := range b.X.Len() {
			if classes != nil {
				info.class = append(info.class, int32(classes.Of(b.Batch, i)))
			}
			h.row(b.Batch, i)
		}
		for _, key := range dataset.Groups(b.Pass) {
			if _, seen := groups[key]; !seen {
				groups[key] = int32(len(groups))
			}
			info.group = append(info.group, groups[key])
		}
		info.n += b.X.Len()
	}
	info.groups = len(groups)
	s.data = h.sum
	if info.n != s.base.Summary().Rows || info.group != nil && len(info.group) != info.n {
		return info, fmt.Errorf("%s: %d rows when they were read first and %d now; the data changed", s.src.Name(),
			s.base.Summary().Rows, info.n)
	}
	if info.times != nil && len(info.times) != info.n {
		return info, fmt.Errorf("%s: %d times for %d rows", s.src.Name(), len(info.times), info.n)
	}
	return info, nil
}
