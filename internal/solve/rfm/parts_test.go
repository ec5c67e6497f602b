package rfm

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
	"mercer/internal/engine/safetensors"
	"mercer/matrix"
)

// inParts trains in parts of about so many rows, by a sample of every second row, each thing being read from what was written of it.
func inParts(t *testing.T, x *matrix.Dense, y []float64, outputs, part int, opt Options) (*Machine, *Report, *Top) {
	t.Helper()
	ctx := context.Background()
	rows := func(which []int) Rows {
		r := Rows{X: matrix.Pick(matrix.Rows{Dense: x}, which).Dense}
		for _, i := range which {
			r.Y, r.Weights, r.Keys = append(r.Y, y[i*outputs:][:outputs]...), append(r.Weights, 1), append(r.Keys, int(3*keyUnit+int64(i)))
		}
		return r
	}
	var sample []int
	for i := 0; i < x.Rows; i += 2 {
		sample = append(sample, i)
	}
	made, err := NewTop(ctx, rows(sample), outputs, x.Rows, part, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := made.Write(&b, map[string]string{"of": "test"}); err != nil {
		t.Fatal(err)
	}
	top, meta, err := ReadTop(&b, int64(b.Len()), opt)
	if err != nil || meta["of"] != "test" {
		t.Fatal(err, meta)
	}
	of := make([][]int, top.Parts())
	for i := range x.Rows {
		for _, p := range top.Route(nil, x.Row(i)) {
			of[p] = append(of[p], i)
		}
	}
	var kept, read []*Part
	for p, which := range of {
		if len(which) > 2*part {
			t.Errorf("part %d has %d rows; about %d were asked for", p, len(which), part)
		}
		grown, err := top.Grow(ctx, p, rows(which), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if err := grown.Write(&b, top, nil); err != nil {
			t.Fatal(err)
		}
		again, _, err := top.ReadPart(&b, int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		kept, read = append(kept, grown), append(read, again)
	}
	m, report, err := top.Join(ctx, read, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, _, err := made.Join(ctx, kept, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(scored(t, m, x), scored(t, same, x)) {
		t.Error("what was read scores otherwise than what was written")
	}
	return m, report, top
}

// A training in parts comes to about what one of all rows in one place comes to, and to more than one of the sample alone.
func TestPartsComeToWhatOneTrainingComesTo(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const n = 6000
	opt := Options{Seed: 1, Kinds: quick, Leaf: 1000, Smooth: true} // trees would be of the sample alone
	x, y := sides(n, 1)
	xt, yt := sides(2000, 2)
	m, report, top := inParts(t, x, y, 1, 3000, opt)
	if top.Parts() != 2 || len(m.Leaves()) < 6 || len(report.Candidates) != 1 {
		t.Errorf("%d parts, %v", top.Parts(), report.Lines())
	}
	all, _ := fitted(t, x, y, 1, nil, opt)
	few, fewY := matrix.NewDense(n/2, x.Cols), make([]float64, n/2)
	for i := range fewY {
		copy(few.Row(i), x.Row(2*i))
		fewY[i] = y[2*i]
	}
	sample, _ := fitted(t, few, fewY, 1, nil, opt)
	parts, one, least := failed(scored(t, m, xt), yt), failed(scored(t, all, xt), yt), failed(scored(t, sample, xt), yt)
	if !(parts < 2*one && parts < 0.8*least) {
		t.Errorf("1 - R² %.4f in parts, %.4f in one place, %.4f of the sample", parts, one, least)
	}
	dst := matrix.NewDense(xt.Rows, 1)
	if err := m.Radii(dst, matrix.Rows{Dense: xt}, 0.9); err != nil {
		t.Fatal(err)
	}
	inside := 0
	for i, s := range scored(t, m, xt) {
		if math.Abs(float64(s)-yt[i]) <= float64(dst.Data[i]) {
			inside++
		}
	}
	// The judges, a tenth of the sample, are 300, and their machines are of fewer rows than those that predict.
	if share := float64(inside) / float64(xt.Rows); share < 0.9-3*math.Sqrt(0.09/300+0.09/2000) {
		t.Errorf("%.1f %% of new rows are in intervals of 90 %%", 100*share)
	}
}

// So do classes by the logistic loss, two and three, and several numbers of different units.
func TestPartsHaveLogitsAndUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, classes := range []int{2, 3} {
		rows := []int{2: 2400, 3: 4500}[classes] // three differ more from one place with fewer
		x, y, _ := drawn(rows, classes, 4, 1)
		xt, yt, p := drawn(2000, classes, 4, 2)
		k := len(yt) / xt.Rows
		opt := Options{Seed: 1, Kinds: quick, Leaf: rows * 2 / 9, Classes: true, Logistic: true, Held: true}
		m, report, _ := inParts(t, x, y, k, rows/2+50, opt)
		one, oneReport := fitted(t, x, y, k, nil, opt)
		// The rows held out are numbered as those of the sample.
		few := make([]float64, 0, len(y)/2)
		for i := 0; i < x.Rows; i += 2 {
			few = append(few, y[i*k:][:k]...)
		}
		got := likelihood(probabilities(t, m, report, xt, few, classes), yt, classes)
		want, best := likelihood(probabilities(t, one, oneReport, xt, y, classes), yt, classes), likelihood(p, yt, classes)
		if !report.Logistic || got-best > 1.5*(want-best)+0.01 {
			t.Errorf("%d classes: a log loss of %.4f in parts, %.4f in one place, %.4f of the truth; %v", classes, got, want, best, report.Lines())
		}
	}
	x, y := sides(3000, 1)
	both := make([]float64, 0, 2*len(y))
	for i, v := range y {
		both = append(both, v, 1e6*float64(x.Row(i)[0]))
	}
	m, _, _ := inParts(t, x, both, 2, 1600, Options{Seed: 1, Kinds: quick, Leaf: 1000, Smooth: true})
	scores, second := scored(t, m, x), make([]float32, 0, len(y))
	for i := 1; i < len(scores); i += 2 {
		second = append(second, scores[i]/1e6)
	}
	first := make([]float64, len(y))
	for i := range first {
		first[i] = float64(x.Row(i)[0])
	}
	if e := failed(second, first); e > 0.05 {
		t.Errorf("1 - R² of the second of two numbers is %.3f", e)
	}
}

// Files that were altered and sealed again are refused, or make something whose scores are numbers; nothing panics.
func TestAlteredPartsAreRefused(t *testing.T) {
	ctx := context.Background()
	x, y := sides(700, 1)
	opt := Options{Seed: 1, Kinds: quick, Leaf: 400, Smooth: true}
	rows := Rows{X: x, Y: y, Weights: slices.Repeat([]float64{1}, x.Rows), Keys: seq(x.Rows)}
	top, err := NewTop(ctx, rows, 1, x.Rows, 0, opt)
	if err != nil {
		t.Fatal(err)
	}
	part, err := top.Grow(ctx, 0, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	var files [3]bytes.Buffer
	for i, write := range []func() error{func() error { return rows.Write(&files[0], nil) }, func() error { return top.Write(&files[1], nil) },
		func() error { return part.Write(&files[2], top, nil) }} {
		if err := write(); err != nil {
			t.Fatal(i, err)
		}
	}
	r := random.New(1, "rfm.altered")
	refused := 0
	for i := range files {
		text := files[i].Bytes()
		for range 300 {
			altered := slices.Clone(text)
			end := min(len(altered), 2500) // most of it the description
			if r.Intn(4) == 0 {
				end = len(altered)
			}
			at := 8 + r.Intn(end-8)
			altered[at] = "0123456789-.,:\"{}[]eatruefls"[r.Intn(28)]
			if !safetensors.Seal(altered) {
				continue
			}
			from := bytes.NewReader(altered)
			var err error
			switch i {
			case 0:
				_, _, err = ReadRows(from, int64(len(altered)))
			case 1:
				_, _, err = ReadTop(from, int64(len(altered)), opt)
			case 2:
				_, _, err = top.ReadPart(from, int64(len(altered)))
			}
			if err != nil {
				refused++
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d of 900 altered files were refused", refused)
	}
}
