package tune

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"os"
)

// journal is what a search has done so far: in memory, and in a file if it is to outlive the
// program. The file has a line of JSON that says what the search is of, and one for each job
// that is done, which is appended and synced at once. A last line that was cut short is a
// job that is not done.
type journal struct {
	path string
	file *os.File // nil: in memory only
	jobs map[string]*record

	work    Work
	resumed int // scores that were there from the start
}

// record is what a job found.
type record struct {
	Job    string   `json:"job"`
	Scores []score  `json:"scores,omitempty"`
	Left   []string `json:"left,omitempty"` // of a race: why each racer has left it, "" if it has not
	Work   Work     `json:"work"`
}

// score is that of a candidate on a split, or why it has none.
type score struct {
	Candidate int     `json:"c"`
	Split     int     `json:"s"`
	Value     float64 `json:"v"`
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

// openJournal reads what is done and goes on with it.
func (s *search) openJournal() error {
	j := &journal{path: s.opt.Journal, jobs: map[string]*record{}}
	s.journal = j
	if j.path == "" {
		return nil
	}
	print, err := s.fingerprint()
	if err != nil {
		return err
	}
	hash := func(v uint64) string { return fmt.Sprintf("%016x", v) }
	head := journalHead{
		Mercer: "tune 1", Data: s.src.Name(), Rows: s.result.Rows, Hash: hash(s.data),
		Search: hash(crc64.Checksum([]byte(print), crc64.MakeTable(crc64.ECMA))),
	}
	return j.open(head)
}

func (j *journal) open(head journalHead) error {
	text, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	r := bufio.NewReader(bytes.NewReader(text[:whole]))
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if number == 1 {
			err = j.checkHead(line, head)
		} else {
			var rec record
			if err = json.Unmarshal(line, &rec); err == nil && rec.Job == "" {
				err = errors.New("no job")
			}
			if err != nil {
				err = fmt.Errorf("%s: line %d is not one of a tuning's journal (%w); delete the file to begin anew", j.path, number, err)
			}
			if err == nil {
				j.keep(&rec)
				j.resumed += len(rec.Scores)
			}
		}
		if err != nil {
			return err
		}
	}
	if j.file, err = os.OpenFile(j.path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	// What was cut short is written over.
	if err := j.file.Truncate(int64(whole)); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if _, err := j.file.Seek(int64(whole), io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if whole == 0 {
		return j.write(head)
	}
	return nil
}

// checkHead finds out whether a journal is of this search.
func (j *journal) checkHead(line []byte, want journalHead) error {
	var h journalHead
	if err := json.Unmarshal(line, &h); err != nil || h.Mercer == "" {
		return fmt.Errorf("%s: is not a tuning's journal; name another file with --journal, or delete it", j.path)
	}
	advice := "run it as before to go on, delete the file to begin anew, or name another with --journal"
	switch {
	case h.Mercer != want.Mercer:
		return fmt.Errorf("%s: is a journal of another version of the program (%s); delete it to begin anew", j.path, h.Mercer)
	case h.Rows != want.Rows || h.Hash != want.Hash:
		return fmt.Errorf("%s: is the journal of a tuning on other data (%s, %d rows; these are %s, %d rows); %s", j.path, h.Data, h.Rows, want.Data, want.Rows, advice)
	case h.Search != want.Search:
		return fmt.Errorf("%s: is the journal of a tuning on the same data in another space, or with other folds or another metric; %s", j.path, advice)
	}
	return nil
}

func (j *journal) keep(rec *record) {
	if j.jobs[rec.Job] == nil {
		j.jobs[rec.Job] = rec
		j.work.add(rec.Work)
	}
}

// add keeps what a job found.
func (j *journal) add(rec *record) error {
	j.keep(rec)
	return j.write(rec)
}

func (j *journal) write(v any) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return nil
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}
