package mercer

import (
	"errors"
	"fmt"

	"mercer/dataset"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
	"mercer/model"
)

// Predictor predicts single records or rows with a model, and reuses its memory: a prediction
// allocates nothing, and what it returns is valid until the next one. It is for one goroutine at a time;
// a service takes one for each, or keeps them in a sync.Pool.
//
// Its errors tell which field of a record is wrong (errors.As to a *[FieldError]) or which number of a row
// (to a *[RowError]).
type Predictor struct {
	m       *Model
	encoder *dataset.Encoder
	pass    *pipeline.Pass
	score   func(dst *matrix.Dense, z matrix.Rows)

	row, scores matrix.Dense
	probable    bool
	out         Prediction
	labels      []string
}

// NewPredictor makes a predictor. It fails for a nil model, and for one of bags, which predicts with
// Model.PredictBags.
func NewPredictor(m *Model) (*Predictor, error) {
	if m == nil {
		return nil, errNoModel
	}
	if m.Bag() != nil {
		return nil, errors.New("the model predicts bags, not single records; use Model.PredictBags")
	}
	p := &Predictor{m: m, encoder: dataset.NewEncoder(&m.Info().Schema), pass: m.Pipeline().Pass(), probable: m.HasProbabilities()}
	p.row.Reshape(1, m.Dim())
	p.scores.Reshape(1, m.Outputs())
	p.score = m.Predictor().Scores
	if l, ok := m.Predictor().(interface{ Single() model.Scorer }); ok {
		p.score = l.Single().Scores
	}
	if m.Classes() == nil && m.Labels() == nil {
		p.out.Values = make([]float64, m.Outputs())
	}
	if p.probable {
		n := len(m.Classes())
		if n == 0 {
			n = m.Outputs()
		}
		p.out.Probabilities = make([]float64, n)
	}
	return p, nil
}

// Columns are the names of the columns that the model takes, in the order of Values.
func (p *Predictor) Columns() []string { return p.encoder.Columns() }

// Record predicts a record: a number or a text for each column by its name. Fields that the model does
// not know are left out, those that are not there are missing.
func (p *Predictor) Record(record map[string]any) (*Prediction, error) {
	if err := p.encoder.Map(p.row.Data, record); err != nil {
		return nil, err
	}
	return p.predict()
}

// Struct predicts a struct, or a pointer to one, whose fields are columns by their tag mercer:"name" or
// json:"name", or by their own name. A pointer allocates nothing.
func (p *Predictor) Struct(record any) (*Prediction, error) {
	if err := p.encoder.Struct(p.row.Data, record); err != nil {
		return nil, err
	}
	return p.predict()
}

// Values predicts values in the order of Columns.
func (p *Predictor) Values(values ...any) (*Prediction, error) {
	if err := p.encoder.Values(p.row.Data, values...); err != nil {
		return nil, err
	}
	return p.predict()
}

// Row predicts a row of Model.Dim numbers: those of a record after its categories have become numbers.
func (p *Predictor) Row(row []float64) (*Prediction, error) {
	if err := p.fits(len(row)); err != nil {
		return nil, err
	}
	vec.Round32(p.row.Data, row)
	return p.predict()
}

// Row32 is Row for float32.
func (p *Predictor) Row32(row []float32) (*Prediction, error) {
	if err := p.fits(len(row)); err != nil {
		return nil, err
	}
	copy(p.row.Data, row)
	return p.predict()
}

func (p *Predictor) fits(n int) error {
	if n == p.m.Dim() {
		return nil
	}
	return &RowError{Dim: -1, Err: fmt.Errorf("the row has %d numbers, but the model was trained on %d", n, p.m.Dim())}
}

// predict predicts p.row.
func (p *Predictor) predict() (*Prediction, error) {
	z, err := p.pass.Row(&p.row)
	if err != nil {
		return nil, err
	}
	p.score(&p.scores, z)
	scores, out := p.scores.Data, &p.out
	for _, v := range scores {
		if v-v != 0 {
			return nil, &RowError{Dim: -1, Err: errors.New("its values are too large to score in float32")}
		}
	}
	out.Scores = scores
	if p.probable {
		if err := p.m.Probabilities(out.Probabilities, scores); err != nil {
			return nil, err
		}
	}
	switch info := p.m.Info(); {
	case info.Classes != nil:
		out.Label = info.Classes[p.m.Class(scores)]
	case info.Labels != nil:
		p.labels = p.labels[:0]
		for t, v := range scores {
			if p.m.Has(t, v) {
				p.labels = append(p.labels, info.Labels[t])
			}
		}
		out.Labels = p.labels
	default:
		for t, v := range scores {
			out.Values[t] = p.m.Value(t, v)
		}
	}
	return out, nil
}
