package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"

	"mercer/internal/engine/checkpoint"
	"mercer/internal/engine/option"
)

// searchJournal records the progress of a search: in memory, and in a file if it is to outlive the
// program.
type searchJournal struct {
	path string
	file *checkpoint.Journal
	jobs map[string]*record

	work    Work
	resumed int // scores that were there from the start
}

// record is the result of a job.
type record struct {
	Job    string   `json:"job"`
	Scores []score  `json:"scores,omitempty"`
	Left   []string `json:"left,omitempty"` // of a race: why each racer was dropped, "" if it was not
	Work   Work     `json:"work"`
}

// score is that of a candidate on a split, or why it has none.
type score struct {
	Candidate int     `json:"c"`
	Split     int     `json:"s"`
	Value     float64 `json:"v"`
	Size      int     `json:"d,omitempty"` // see Candidate; older journals have neither this
	Seconds   float64 `json:"t,omitempty"` // nor this
	Err       string  `json:"err,omitempty"`
}

// journalHead is the first line.
type journalHead struct {
	Mercer string `json:"mercer"`
	Data   string `json:"data"`
	Rows   int    `json:"rows"`
	Hash   string `json:"hash"`
	Search string `json:"search"`
}

// openJournal reads the finished jobs and appends to the journal.
func (s *tuning) openJournal() error {
	j := &searchJournal{path: s.opt.Journal, jobs: map[string]*record{}}
	s.journal = j
	if j.path == "" {
		return j.open(journalHead{}) // in memory only
	}
	print, err := s.fingerprint()
	if err != nil {
		return err
	}
	hash := func(v uint64) string { return fmt.Sprintf("%016x", v) }
	head := journalHead{
		Mercer: "tune 2", Data: s.src.Name(), Rows: s.result.Rows, Hash: hash(s.data),
		Search: hash(crc64.Checksum([]byte(print), crc64.MakeTable(crc64.ECMA))),
	}
	return j.open(head)
}

func (j *searchJournal) open(head journalHead) error {
	file, err := checkpoint.Open(j.path, head, func(number int, line []byte) error {
		if number == 1 {
			return j.checkHead(line, head)
		}
		var rec record
		err := json.Unmarshal(line, &rec)
		if err == nil && rec.Job == "" {
			err = errors.New("no job")
		}
		if err != nil {
			return fmt.Errorf("%s: line %d is not one of a tuning's journal (%w); delete the file to start over", j.path, number, err)
		}
		if j.keep(&rec) {
			j.resumed += len(rec.Scores)
		}
		return nil
	})
	j.file = file
	return err
}

// checkHead checks that a journal belongs to this search.
func (j *searchJournal) checkHead(line []byte, want journalHead) error {
	var h journalHead
	if err := json.Unmarshal(line, &h); err != nil || h.Mercer == "" {
		return option.Errorf("%s: is not a tuning's journal; name another file with %s, or delete it", j.path, option.Ref("journal"))
	}
	advice := option.Phrasef("run it as before to go on, delete the file to start over, or name another with %s", option.Ref("journal"))
	switch {
	case h.Mercer != want.Mercer:
		return fmt.Errorf("%s: is a journal of another version of the program (%s); delete it to start over", j.path, h.Mercer)
	case h.Rows != want.Rows || h.Hash != want.Hash:
		return option.Errorf("%s: is the journal of a tuning on other data (%s, %d rows; these are %s, %d rows); %s", j.path,
			h.Data, h.Rows, want.Data, want.Rows, advice)
	case h.Search != want.Search:
		return option.Errorf("%s: is the journal of a tuning on the same data in another space, or with other folds or another metric; %s",
			j.path, advice)
	}
	return nil
}

// keep keeps a record of a job that has none yet.
func (j *searchJournal) keep(rec *record) bool {
	if j.jobs[rec.Job] != nil {
		return false
	}
	j.jobs[rec.Job] = rec
	j.work.add(rec.Work)
	return true
}

// foreign is the error of a job whose record has other candidates or splits.
func (j *searchJournal) foreign(job string) error {
	return fmt.Errorf("%s: job %s has scores of other candidates or splits than this tuning; delete the file to start over", j.path, job)
}

// add records the result of a job.
func (j *searchJournal) add(rec *record) error {
	j.keep(rec)
	return j.file.Add(rec)
}
