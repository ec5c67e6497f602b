package eval

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/hypothesis"
	"mercer/internal/engine/option"
	"mercer/matrix"
)

// record keeps, for each row and model, what a weighted metric needs, so that it can be recomputed for any
// weights of the rows.
type record struct {
	metric *Metric
	how    way
	rows   int

	classes []string
	finds   *dataset.Classes
	labels  []string
	sets    *dataset.LabelSets
	outputs int
	parts   int // numbers per row and model of sums

	weights []float64 // of rows; nil: all 1
	truth   []int32   // classes
	targets []float64 // rows×outputs, for metrics that depend on their spread
	models  []keptRows

	batch   *matrix.Batch
	has     [][]bool // of the rows of the batch
	centres []float64
}

// keptRows are the data kept for one model.
type keptRows struct {
	class   []int32   // predicted
	score   []float32 // of the second of two classes
	order   []int32   // rows by score, the largest first
	sums    []float32 // rows×parts
	own     []int     // index of its classes or labels among all
	seconds float64
}

// way is how a metric is computed from what is kept.
type way int

const (
	byConfusion   way = iota // from the counts of truth×predicted
	byRanking                // from the order of the scores
	byProbability            // the mean of a loss of probabilities
	byLoss                   // the mean of another loss of each row
	bySquares                // from squared errors of each output
	byCounts                 // from hits and misses of the labels
)

// compared are the metrics by which models can be compared.
var compared = map[string]map[string]way{
	"classify": {
		"accuracy": byConfusion, "error": byConfusion, "balanced_accuracy": byConfusion, "mcc": byConfusion, "kappa": byConfusion,
		"f1": byConfusion, "precision": byConfusion, "recall": byConfusion,
		"micro_f1": byConfusion, "micro_precision": byConfusion, "micro_recall": byConfusion,
		"macro_f1": byConfusion, "macro_precision": byConfusion, "macro_recall": byConfusion,
		"weighted_f1": byConfusion, "weighted_precision": byConfusion, "weighted_recall": byConfusion,
		"auc": byRanking, "average_precision": byRanking, "log_loss": byProbability, "brier": byProbability,
	},
	"regress": {"rmse": bySquares, "mae": byLoss, "r2": bySquares, "relative_rmse": bySquares},
	"multilabel": {
		"subset_accuracy": byLoss, "hamming_loss": byLoss, "samples_f1": byLoss, "samples_precision": byLoss, "samples_recall": byLoss,
		"micro_f1": byCounts, "micro_precision": byCounts, "micro_recall": byCounts,
	},
}

// ComparedMetrics are the names of the metrics by which models of a task can be compared, the most important first.
func ComparedMetrics(task string) []string {
	return slices.DeleteFunc(MetricNames(task), func(name string) bool {
		_, known := waysOf(task)[name]
		return !known
	})
}

// ComparedMetric returns an error if models of any task cannot be compared by the named metric; it lists those that
// are possible.
func ComparedMetric(name string) error {
	m, err := MetricNamed(name)
	if err != nil {
		return fmt.Errorf("there is no metric %q; models are compared by %s", name, byTask(ComparedMetrics))
	}
	for _, ways := range compared {
		if _, known := ways[m.Name]; known {
			return nil
		}
	}
	return fmt.Errorf("models cannot be compared by %s, but by %s", m.Name, byTask(ComparedMetrics))
}

// comparedMetrics are the ComparedMetrics that apply to models like p.
func comparedMetrics(p *Predictor) string {
	names := slices.DeleteFunc(ComparedMetrics(p.Task), func(name string) bool { return ofTwoClasses(name) && len(p.Classes) != 2 })
	return strings.Join(names, ", ")
}

// ofTwoClasses reports whether the metric is only for models of two classes.
func ofTwoClasses(name string) bool {
	return slices.Contains([]string{"f1", "precision", "recall", "auc", "average_precision"}, name)
}

func waysOf(task string) map[string]way {
	if task == "outliers" {
		task = "classify"
	}
	return compared[task]
}

// newRecord makes a record for a metric of models like p.
func newRecord(metric string, p *Predictor, models int) (*record, error) {
	m, err := MetricNamed(metric)
	if metric == "" {
		m, err = MetricOf("", p.Task)
	}
	if err != nil {
		return nil, err
	}
	how, known := waysOf(p.Task)[m.Name]
	switch {
	case !m.Suits(p.Task):
		return nil, fmt.Errorf("the metric %s is not for the task %s; there are %s", m.Name, p.Task, comparedMetrics(p))
	case !known:
		return nil, fmt.Errorf("models cannot be compared by %s; there are %s", m.Name, comparedMetrics(p))
	case ofTwoClasses(m.Name) && len(p.Classes) != 2:
		return nil, fmt.Errorf("the metric %s is for two classes, and there are %d; there are %s", m.Name, len(p.Classes), comparedMetrics(p))
	}
	r := &record{metric: m, how: how, classes: p.Classes, labels: p.Labels, outputs: p.Outputs, models: make([]keptRows, models), parts: 1}
	switch {
	case p.Classes != nil:
		r.finds = dataset.NewClasses(p.Classes)
	case p.Labels == nil && how == bySquares:
		r.parts = p.Outputs
	case how == byCounts:
		r.parts = 2
	}
	return r, nil
}

// truths adds the labels of a batch.
func (r *record) truths(b *matrix.Batch, src dataset.Source) error {
	name := src.Name()
	switch {
	case b.Outputs == 0:
		return unlabelled(name)
	case r.classes != nil && b.Outputs != 1:
		return fmt.Errorf("%s: rows have %d labels, but the models predict one class", name, b.Outputs)
	case r.labels == nil && r.classes == nil && b.Outputs != r.outputs:
		return fmt.Errorf("%s: rows have %d labels, but the models predict %d numbers", name, b.Outputs, r.outputs)
	}
	if b.Weights != nil && r.weights == nil {
		r.weights = slices.Repeat([]float64{1}, r.rows)
	}
	for i := range b.X.Len() {
		if r.weights != nil {
			w := 1.0
			if b.Weights != nil {
				w = b.Weights[i]
			}
			r.weights = append(r.weights, w)
		}
		switch {
		case r.classes != nil:
			class := r.finds.Of(b, i)
			if class < 0 {
				label := strconv.FormatFloat(b.Y[i], 'g', -1, 64)
				if b.Names != nil && b.Names[i] != "" {
					label = b.Names[i]
				}
				return dataset.AtRow(src, b.First+i, fmt.Errorf("the label %q is none of the classes of the models, %s", label, short(r.classes)))
			}
			r.truth = append(r.truth, int32(class))
		case r.labels != nil:
			if len(r.has) <= i {
				r.has = append(r.has, make([]bool, len(r.labels)))
			}
			if r.sets == nil {
				r.sets = dataset.NewLabelSets(r.labels, b.Outputs > 1)
			}
			unknown, err := r.sets.Of(b, i, r.has[i])
			if err != nil {
				return dataset.AtRow(src, b.First+i, err)
			}
			if unknown != nil {
				return dataset.AtRow(src, b.First+i, fmt.Errorf("the label %q is none of those of the models, %s", unknown[0], short(r.labels)))
			}
		default:
			if b.Names != nil && b.Names[i] != "" && !dataset.Numeric(b.Names[i]) {
				return dataset.AtRow(src, b.First+i, fmt.Errorf("the label %q is not a number, but the models predict numbers", b.Names[i]))
			}
		}
	}
	if r.metric.Name == "r2" || r.metric.Name == "relative_rmse" {
		r.targets = append(r.targets, b.Y...)
	}
	r.batch = b
	return nil
}

// short lists names, up to a limit.
func short(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// place is the indices of a model's classes or labels among all.
func (r *record) place(j int, p *Predictor) error {
	if r.how == byProbability && !p.Probabilities {
		return option.Errorf("%s has no probabilities, which %s takes; train it with %s", p.Name, r.metric.Name, option.Set("calibrate", "platt"))
	}
	own, all := p.Classes, r.classes
	if own == nil {
		own, all = p.Labels, r.labels
	}
	m := &r.models[j]
	m.own = m.own[:0]
	for _, label := range own {
		at := slices.Index(all, label)
		if at < 0 {
			return fmt.Errorf("%s: the class %q is none of %s", p.Name, label, short(all))
		}
		m.own = append(m.own, at)
	}
	return nil
}

// add keeps the prediction of model j for row i of the batch.
func (r *record) add(j, i int, s *Said) error {
	m := &r.models[j]
	switch r.how {
	case byConfusion:
		m.class = append(m.class, int32(m.own[s.Class]))
	case byRanking:
		v := s.Score
		if m.own[0] != 0 {
			v = -v
		}
		m.score = append(m.score, v)
	case byProbability:
		truth, loss := int(r.truth[r.rows+i]), 0.0
		seen := 0.0
		for k, p := range s.Probabilities {
			at := m.own[k]
			if at == truth {
				seen = p
			}
			if d := p; len(r.classes) != 2 || at == 1 {
				if at == truth {
					d = 1 - p
				}
				loss += d * d
			}
		}
		if r.metric.Name == "log_loss" {
			loss = -math.Log(max(seen, leastProbability))
		}
		m.sums = append(m.sums, float32(loss))
	case bySquares:
		for t, v := range s.Numbers {
			e := r.batch.Y[i*r.outputs+t] - v
			m.sums = append(m.sums, float32(e*e))
		}
	case byLoss, byCounts:
		if r.labels == nil {
			loss := 0.0
			for t, v := range s.Numbers {
				loss += math.Abs(r.batch.Y[i*r.outputs+t]-v) / float64(r.outputs)
			}
			m.sums = append(m.sums, float32(loss))
			return nil
		}
		m.sums = append(m.sums, r.labelParts(r.has[i], s.Has, m.own)...)
	}
	return nil
}

// labelParts are the numbers kept for a row of labels.
func (r *record) labelParts(has, told []bool, own []int) []float32 {
	hits, toldAll, truths, both := 0, 0, 0, 0
	for _, h := range has {
		if h {
			truths++
		}
	}
	for t, v := range told {
		if v {
			toldAll++
			if has[own[t]] {
				hits++
			}
		}
	}
	both = toldAll + truths
	switch r.metric.Name {
	case "subset_accuracy":
		if both == 2*hits {
			return []float32{1}
		}
		return []float32{0}
	case "hamming_loss":
		return []float32{float32(both-2*hits) / float32(len(has))}
	case "samples_f1":
		return []float32{float32(share(2*float64(hits), float64(both)))}
	case "samples_precision":
		return []float32{float32(share(float64(hits), float64(toldAll)))}
	case "samples_recall":
		return []float32{float32(share(float64(hits), float64(truths)))}
	case "micro_precision":
		return []float32{float32(hits), float32(toldAll)}
	case "micro_recall":
		return []float32{float32(hits), float32(truths)}
	}
	return []float32{float32(2 * hits), float32(both)}
}

// prepare sorts and centres the data for any weights.
func (r *record) prepare() {
	for j := range r.models {
		m := &r.models[j]
		if m.score == nil {
			continue
		}
		m.order = make([]int32, r.rows)
		for i := range m.order {
			m.order[i] = int32(i)
		}
		slices.SortFunc(m.order, func(a, b int32) int {
			switch {
			case m.score[a] > m.score[b]:
				return -1
			case m.score[a] < m.score[b]:
				return 1
			}
			return 0
		})
	}
	if r.targets != nil {
		r.centres = make([]float64, r.outputs)
		for i, y := range r.targets {
			r.centres[i%r.outputs] += y / float64(r.rows)
		}
	}
}

// mostDistinct is the largest number of different rows that distinct handles.
const mostDistinct = 4096

// distinct is a record of the rows with different truth and predictions, and the number of each, if these are few: the
// bootstrap then need not draw row by row. Otherwise it is r itself, and nil.
func (r *record) distinct() (few *record, copies []int32) {
	if r.how != byConfusion || r.weights != nil {
		return r, nil
	}
	few = &record{metric: r.metric, how: r.how, classes: r.classes, models: make([]keptRows, len(r.models))}
	found := map[string]int{}
	key := make([]byte, 0, 4*(len(r.models)+1))
	for i, truth := range r.truth {
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(truth))
		for j := range r.models {
			key = binary.LittleEndian.AppendUint32(key, uint32(r.models[j].class[i]))
		}
		at, known := found[string(key)]
		if !known {
			if at = few.rows; at == min(mostDistinct, r.rows/2) {
				return r, nil
			}
			found[string(key)] = at
			few.rows++
			few.truth, copies = append(few.truth, truth), append(copies, 0)
			for j := range r.models {
				few.models[j].class = append(few.models[j].class, r.models[j].class[i])
			}
		}
		copies[at]++
	}
	return few, copies
}

// mcNemar compares two models by the rows [lo, hi).
func (r *record) mcNemar(a, b, lo, hi int) *hypothesis.McNemarTest {
	onlyA, onlyB := 0, 0
	for i := lo; i < hi; i++ {
		rightA, rightB := r.models[a].class[i] == r.truth[i], r.models[b].class[i] == r.truth[i]
		switch {
		case rightA && !rightB:
			onlyA++
		case rightB && !rightA:
			onlyB++
		}
	}
	return hypothesis.McNemar(onlyA, onlyB)
}
