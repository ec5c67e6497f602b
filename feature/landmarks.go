package feature

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// landmarks are the maps that compare rows with landmarks.
func landmarks() []kind {
	choice, ranked := []string{"landmarks"}, []string{"landmarks", "rank"}
	rows := map[string][]string{"landmarks": LandmarkChoices()}
	centres := map[string][]string{"landmarks": {"kmeans", "uniform", "projected", "kmedoid", "leverage", "rpcholesky", "given"}}
	return []kind{
		{name: Nystrom, about: "projection on what landmarks span of any kernel's feature space (Nyström)",
			cost:   "md + mD",
			source: "Williams and Seeger 2001", options: ranked, words: rows, usual: usualLandmarks, frugal: true,
			check: checkLandmarks, sample: landmarkRows, fit: fitNystrom, restore: restoreNystrom},
		{name: ICholesky, about: "nystrom on the rows of a sample that incomplete Cholesky picks one by one",
			cost:   "md + mD",
			source: "Fine and Scheinberg 2001", usual: usualLandmarks, frugal: true,
			sample: greedyRows, fit: fitICholesky, restore: restoreICholesky},
		{name: CKSVD, about: "nystrom with landmarks that are learned, no rows of the sample",
			cost:   "md + mD",
			source: "Bo and Sminchisescu 2009", options: ranked, words: centres, usual: usualLandmarks,
			check: checkLandmarks, sample: landmarkRows, fit: fitCKSVD, restore: restoreNystrom},
		{name: RBFNetwork, about: "radial basis functions around the centres of clusters; approximates no kernel",
			cost:   "dD",
			source: "Broomhead and Lowe 1988; Moody and Darken 1989", options: []string{"landmarks", "widths"},
			words: map[string][]string{"landmarks": centres["landmarks"], "widths": {"common", "own"}}, takes: only(kernel.RBF), basis: true,
			usual: usualLandmarks, check: checkNetwork, sample: landmarkRows, fit: fitNetwork, restore: restoreNetwork},
		{name: Sigmoid, about: "smooth steps between the centres of clusters; approximates no kernel",
			cost:   "dD",
			source: "Kumar 2010", options: []string{"landmarks", "width"}, words: centres, basis: true, aloof: true,
			usual: usualLandmarks, check: checkSigmoid, sample: landmarkRows, fit: fitSigmoid, restore: restoreSigmoid},
		{name: Words, about: "the nearest of the centres of clusters; its mean over a bag is a histogram of words; approximates no kernel",
			cost:   "dD",
			source: "Csurka et al. 2004", options: choice, words: centres, basis: true, aloof: true,
			usual: usualLandmarks, check: checkLandmarks, sample: landmarkRows, fit: fitWords, restore: restoreWords},
		{name: Wavelets, about: "the wavelet basis of each dimension; approximates no kernel",
			cost:   "D",
			source: "Daubechies 1992; Kumar 2010", options: []string{"terms", "form"}, words: map[string][]string{"form": {"db2", "haar"}},
			basis: true, aloof: true, dim: true,
			check: checkWavelets, sample: func(Config) int { return unarySample }, fit: fitWavelets, restore: restoreWavelets},
		{name: Empirical, about: "the kernel's values with landmarks themselves",
			cost:   "dD",
			source: "Schölkopf et al. 1999", options: choice, words: rows, basis: true,
			usual: usualLandmarks, check: checkLandmarks, sample: landmarkRows, fit: fitCompared, restore: restoreCompared},
		{name: Precomputed, about: "rows that are values of a kernel of one's own with training rows; z(x)·z(y) is that kernel",
			cost:   "mD",
			source: "Schölkopf et al. 1998", options: ranked, words: map[string][]string{"landmarks": {"columns", "given"}}, basis: true, dim: true,
			check: checkPrecomputed, sample: func(cfg Config) int {
				if cfg.Landmarks == "given" {
					return 0
				}
				return precomputedRows
			}, fit: fitPrecomputed, restore: restorePrecomputed},
	}
}

// usualLandmarks is the default number of landmarks: fitting takes m³ time.
const usualLandmarks = 1024

// landmarkChoices are the ways to choose landmarks from a sample.
var landmarkChoices = []struct {
	name   string
	choose func(c choice) (*matrix.Dense, error)
}{
	{"uniform", uniform},
	{"kmeans", kmeans},
	{"projected", projectedMeans},
	{"kmedoid", kmedoid},
	{"leverage", leverage},
	{"rpcholesky", rpcholesky},
}

// choice is a way to choose landmarks, with its inputs.
type choice struct {
	ctx    context.Context
	kernel kernel.Kernel
	sample matrix.Rows
	m      int // how many, at most as many as the sample has rows
	seed   uint64
}

// LandmarkChoices are the names of the ways to choose landmarks; the last one, given, stands
// for Config.Given.
func LandmarkChoices() []string {
	var names []string
	for _, c := range landmarkChoices {
		names = append(names, c.name)
	}
	return append(names, "given")
}

func checkLandmarks(cfg Config) error {
	if cfg.Rank < 0 {
		return fmt.Errorf("feature: %s: rank is %d; it must be 1 or more, or 0 for all", cfg.Map, cfg.Rank)
	}
	if known := LandmarkChoices(); cfg.Landmarks != "" && !slices.Contains(known, cfg.Landmarks) {
		return fmt.Errorf("feature: %s: landmarks %q is not known; known are %s", cfg.Map, cfg.Landmarks, strings.Join(known, ", "))
	}
	return nil
}

// landmarkRows is how many rows landmarks are chosen from: 20 for each, but at most 20,000
// if these are at least two for each. It bounds the memory of a fit, whose largest part is the
// 8mn bytes of rpcholesky: 160 MB for 1,000 landmarks.
func landmarkRows(cfg Config) int {
	m := cfg.Features
	if m == 0 {
		m = usualLandmarks
	}
	if cfg.Landmarks == "given" {
		return 0
	}
	m = min(m, 1<<20) // more will not be affordable
	return max(2000, min(20*m, max(20000, 2*m)))
}

// chooseLandmarks returns the landmarks of a map, cfg.Features of them unless the sample has
// fewer rows, or fewer that differ.
func chooseLandmarks(ctx context.Context, cfg Config, sample matrix.Rows, usual string) (*matrix.Dense, error) {
	if cfg.Landmarks == "given" {
		return givenLandmarks(cfg, sample.Dim())
	}
	m := min(cfg.Features, sample.Len())
	n, d := float64(sample.Len()), float64(sample.Dim())
	if err := affordable(cfg, sample.Dim(), 8*float64(m)*(d+3*float64(m)+n)); err != nil {
		return nil, err
	}
	name := cfg.Landmarks
	if name == "" {
		name = usual
	}
	for _, c := range landmarkChoices {
		if c.name == name {
			return c.choose(choice{ctx, cfg.Kernel, sample, m, cfg.Seed})
		}
	}
	return nil, checkLandmarks(cfg)
}

func givenLandmarks(cfg Config, dim int) (*matrix.Dense, error) {
	switch g := cfg.Given; {
	case g == nil || g.Rows == 0:
		return nil, fmt.Errorf("feature: %s: landmarks are to be given, but there are none", cfg.Map)
	case g.Cols != dim:
		return nil, fmt.Errorf("feature: %s: the given landmarks have %d dimensions, but the rows have %d", cfg.Map, g.Cols, dim)
	case g.Rows > cfg.Features:
		return nil, fmt.Errorf("feature: %s: %d landmarks are given, but features is %d; give as few, or ask for %d "+
			"features", cfg.Map, g.Rows, cfg.Features, g.Rows)
	default:
		if err := finite(g); err != nil {
			return nil, fmt.Errorf("feature: %s: the given landmarks: %w", cfg.Map, err)
		}
		if err := cfg.Kernel.CheckRows(matrix.Rows{Dense: g}); err != nil {
			return nil, fmt.Errorf("feature: %s: the given landmarks: %w", cfg.Map, err)
		}
		own := matrix.NewDense(g.Rows, g.Cols)
		for i := range g.Rows {
			copy(own.Row(i), g.Row(i))
		}
		return own, affordable(cfg, dim, 8*float64(g.Rows)*(float64(dim)+3*float64(g.Rows)))
	}
}

// uniform takes m rows with equal probabilities.
func uniform(c choice) (*matrix.Dense, error) {
	chosen := random.New(c.seed, "feature.landmarks.uniform").Perm(c.sample.Len())[:c.m]
	slices.Sort(chosen)
	return gather(c.sample, chosen), nil
}

var errNotFinite = errors.New("the kernel of the sample's rows is not finite; scale the data")

// gramRows writes k(x_i, h_j) of all rows x_i and h_j into a new matrix.
func gramRows(ctx context.Context, k kernel.Kernel, x, h matrix.Rows) ([]float64, error) {
	g, err := kernel.NewGram(k, x, h)
	if err != nil {
		return nil, err
	}
	values := make([]float64, x.Len()*h.Len())
	const block = 512
	for i := 0; i < x.Len(); i += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(i+block, x.Len())
		g.Rows(i, end, values[i*h.Len():end*h.Len()])
	}
	return values, nil
}

// Landmarks chooses m rows of a sample, or as many as it has, by one of LandmarkChoices but
// "given" ("" is uniform): the landmarks that a nystrom map of the kernel would
// have. Sparse rows become dense. The memory is that of the choice.
func Landmarks(ctx context.Context, k kernel.Kernel, sample matrix.Rows, choose string, m int, seed uint64) (*matrix.Dense, error) {
	cfg := Config{Map: Nystrom, Kernel: k, Features: m, Seed: seed}
	cfg.Landmarks = choose
	if choose == "given" || m < 1 || sample.Len() == 0 {
		return nil, fmt.Errorf("feature: %d landmarks %q of %d rows cannot be chosen", m, choose, sample.Len())
	}
	if err := errors.Join(k.Validate(), checkLandmarks(cfg)); err != nil {
		return nil, err
	}
	return chooseLandmarks(ctx, cfg, sample, "uniform")
}
