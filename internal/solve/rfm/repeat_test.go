package rfm

import (
	"context"
	"math"
	"slices"
	"testing"

	"mercer/internal/engine/random"
)

// With few rows scores are the means of those of trainings with different rows held out, as far as their losses are the same.
func TestFewRowsAreDrawnSeveralTimes(t *testing.T) {
	for name, classes := range map[string]bool{"numbers": false, "classes": true} {
		const n, draws = 120, 4
		x, y := sides(n+50, 1)
		if classes {
			for i, v := range y {
				y[i] = math.Copysign(1, v)
			}
		}
		opt := Options{Kinds: quick, Classes: classes, Logistic: classes, Held: classes, Seed: 7}
		rows := x.Slice(0, n)
		m, report := fitted(t, rows, y[:n], 1, nil, opt)
		got := scored(t, m, x.Slice(n, n+50))
		want, used, members, held, trees := make([]float64, 50), 0, 0, 0, 0
		for draw := range draws {
			of := opt
			if draw > 0 {
				of.Seed = random.Hash(7, "rfm.draw", uint64(draw))
			}
			one, r, err := fitOnce(context.Background(), rows, y[:n], 1, nil, of)
			if err != nil {
				t.Fatal(err)
			}
			if r.Logistic != report.Logistic {
				continue
			}
			used, members, held, trees = used+1, members+len(one.Leaves()[0]), held+len(r.Held), trees+r.Trees
			for i, v := range scored(t, one, x.Slice(n, n+50)) {
				want[i] += float64(v)
			}
		}
		for i, v := range got {
			if w := want[i] / float64(used); math.Abs(float64(v)-w) > 1e-5*(1+math.Abs(w)) {
				t.Fatalf("%s: row %d has the score %g, the mean of %d draws is %g", name, i, v, used, w)
			}
		}
		if used < 2 || len(m.Leaves()[0]) != members || len(report.Chosen()) != members || len(report.Held) != held || report.Trees != trees {
			t.Errorf("%s: %d draws, %d members (%d in the report) of %d, %d rows held out of %d, %d trees of %d", name, used, len(m.Leaves()[0]),
				len(report.Chosen()), members, len(report.Held), held, report.Trees, trees)
		}
		for i, kind := range report.Chosen() {
			if k := m.Leaves()[0][i].Machine.Kernel().Name; k != kind.Kernel.Name {
				t.Errorf("%s: member %d has the kernel %s, the report says %s", name, i, k, kind.Kernel.Name)
			}
		}
		if !classes && len(m.Spread().Ratios) < 3*n/10 {
			t.Errorf("%d residuals of four draws of a fifth of %d rows", len(m.Spread().Ratios), n)
		}
	}
	one, two := &Report{Logistic: true}, &Report{}
	for _, c := range []struct{ of, want []*Report }{
		{[]*Report{one, two, two, two}, []*Report{two, two, two}}, {[]*Report{one, two, two, one}, []*Report{one, one}},
		{[]*Report{two, one}, []*Report{two}}, {[]*Report{two, two}, []*Report{two, two}},
	} {
		var got []*Report
		for _, draw := range alike(c.of) {
			got = append(got, c.of[draw])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %v, %v are averaged", c.of, got)
		}
	}
	for rows, want := range map[int]int{50: 4, 299: 4, 300: 2, 999: 2, 1000: 1} {
		if got := (&Options{Leaf: 2000}).repeats(rows); got != want {
			t.Errorf("%d rows are drawn %d times, want %d", rows, got, want)
		}
	}
	for _, given := range []Options{{Members: 1}, {Leaf: 100}, {Centres: 20}, {Lambda: 1}} {
		if given.repeats(200) != 1 {
			t.Errorf("%+v is drawn several times", given)
		}
	}
}
