package eval

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"slices"

	"mercer/dataset"
	"mercer/model"
)

// Rows that are predicted apart, on several machines, are measured as if they had been in one place: Scores write of each row what Evaluate compares, which
// is its answer and the scores of the learner, and a Tally reads these in the order of the rows. So its numbers have the same bits.
//
// A file is a line of JSON, blocks of rows (their number and whether they have weights, then the rows), a block of no rows, and the SHA-256 of all
// before. A row of a model with K outputs is, little-endian, its weight (float64), its class (int32, of a model of classes), K bytes and the number of unknown
// labels (uint32; of labels), or K float64 (of numbers), and K scores (float32).

// scoresFormat names the format.
const scoresFormat = "mercer-scores"

// scoresHead is the line.
type scoresHead struct {
	Format string            `json:"format"`
	Meta   map[string]string `json:"meta"`
}

// Scores write the file.
type Scores struct {
	j    *judge
	w    io.Writer
	sum  hash.Hash
	text []byte
	rows int
}

// NewScores begins a file of predictions by a model, with a description.
func NewScores(w io.Writer, m *model.Model, meta map[string]string) (*Scores, error) {
	s := &Scores{j: newJudge(m, nil, Options{}), sum: sha256.New()}
	s.w = io.MultiWriter(w, s.sum)
	line, err := json.Marshal(scoresHead{scoresFormat, meta})
	if err == nil {
		_, err = s.w.Write(append(line, '\n'))
	}
	return s, err
}

// Add predicts the labelled rows of src.
func (s *Scores) Add(ctx context.Context, src dataset.Source) error {
	j := s.j
	j.src = dataset.WithMeans(src, &j.m.Info().Schema)
	for b, err := range dataset.Each(ctx, j.src) {
		if err != nil {
			return err
		}
		if b.X.Len() == 0 {
			continue
		}
		if err := j.score(b.Batch); err != nil {
			return err
		}
		s.text = binary.LittleEndian.AppendUint32(s.text[:0], uint32(b.X.Len()))
		s.text = append(s.text, flag(b.Weights != nil))
		for i := range b.X.Len() {
			a, err := j.answer(b.Batch, i)
			if err != nil {
				return err
			}
			s.row(a, j.scores.Row(i))
		}
		if _, err := s.w.Write(s.text); err != nil {
			return err
		}
		s.rows += b.X.Len()
	}
	return nil
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}

func (s *Scores) row(a answer, scores []float32) {
	s.text = binary.LittleEndian.AppendUint64(s.text, math.Float64bits(a.weight))
	switch {
	case s.j.classes != nil:
		s.text = binary.LittleEndian.AppendUint32(s.text, uint32(int32(a.class)))
	case s.j.sets != nil:
		for _, has := range a.has {
			s.text = append(s.text, flag(has))
		}
		s.text = binary.LittleEndian.AppendUint32(s.text, uint32(a.unknown))
	default:
		for _, v := range a.values {
			s.text = binary.LittleEndian.AppendUint64(s.text, math.Float64bits(v))
		}
	}
	for _, v := range scores {
		s.text = binary.LittleEndian.AppendUint32(s.text, math.Float32bits(v))
	}
}

// Rows is the number of rows so far.
func (s *Scores) Rows() int { return s.rows }

// End ends the file.
func (s *Scores) End() error {
	if _, err := s.w.Write(make([]byte, 5)); err != nil {
		return err
	}
	_, err := s.w.Write(s.sum.Sum(nil))
	return err
}

// Tally gathers files of scores.
type Tally struct{ j *judge }

// NewTally is one of rows of a name that a model has predicted. Of opt it takes Curves, Seed and Quantile.
func NewTally(m *model.Model, name string, opt Options) *Tally {
	opt.Intervals = false
	return &Tally{newJudge(m, elsewhere{name: name}, opt)}
}

// elsewhere is the source of rows that were read by others.
type elsewhere struct {
	dataset.Source
	name string
}

func (e elsewhere) Name() string { return e.name }

var errScores = errors.New("the scores are damaged")

// Add adds the rows of the next file, which must have that description.
func (c *Tally) Add(ctx context.Context, r io.Reader, meta map[string]string) error {
	buffered, sum := bufio.NewReaderSize(r, 1<<16), sha256.New()
	line, err := buffered.ReadSlice('\n')
	var head scoresHead
	if err != nil || json.Unmarshal(line, &head) != nil || head.Format != scoresFormat {
		return errors.New("is no file of scores")
	}
	if !maps.Equal(head.Meta, meta) {
		for _, what := range slices.Sorted(maps.Keys(meta)) {
			if head.Meta[what] != meta[what] {
				return fmt.Errorf("the scores are of another %s", what)
			}
		}
		return errScores
	}
	sum.Write(line)
	in := io.TeeReader(buffered, sum)
	for {
		var of [5]byte
		if _, err := io.ReadFull(in, of[:]); err != nil {
			return errScores
		}
		rows := binary.LittleEndian.Uint32(of[:])
		if rows == 0 {
			break
		}
		c.j.weighted = c.j.weighted || of[4] == 1
		if err := c.block(in, int(rows)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	var end [sha256.Size]byte
	if _, err := io.ReadFull(buffered, end[:]); err != nil || !bytes.Equal(end[:], sum.Sum(nil)) {
		return errScores
	}
	if _, err := buffered.ReadByte(); err != io.EOF {
		return errScores
	}
	return nil
}

// block compares the rows of a block.
func (c *Tally) block(in io.Reader, rows int) error {
	j := c.j
	k, width := j.m.Outputs(), 8
	switch {
	case j.classes != nil:
		width += 4
	case j.sets != nil:
		width += k + 4
	default:
		width += 8 * k
	}
	text, scores := make([]byte, width+4*k), make([]float32, k)
	a := answer{has: make([]bool, k), values: make([]float64, k)}
	for range rows {
		if _, err := io.ReadFull(in, text); err != nil {
			return errScores
		}
		a.weight = math.Float64frombits(binary.LittleEndian.Uint64(text))
		switch at := text[8:]; {
		case j.classes != nil:
			if a.class = int(int32(binary.LittleEndian.Uint32(at))); a.class < -1 || a.class >= len(j.m.Classes()) {
				return errScores
			}
		case j.sets != nil:
			for t := range k {
				a.has[t] = at[t] == 1
			}
			a.unknown = int(binary.LittleEndian.Uint32(at[k:]))
		default:
			for t := range k {
				a.values[t] = math.Float64frombits(binary.LittleEndian.Uint64(at[8*t:]))
			}
		}
		for t := range k {
			scores[t] = math.Float32frombits(binary.LittleEndian.Uint32(text[width+4*t:]))
		}
		if err := j.row(a, scores); err != nil {
			return err
		}
	}
	return nil
}

// Metrics are those of the rows of all files, as Evaluate has them.
func (c *Tally) Metrics() (*Metrics, error) { return c.j.metrics() }
