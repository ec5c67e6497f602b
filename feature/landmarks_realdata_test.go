package feature

import (
	"context"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

// On data of three sorts, scaled to standard deviations of 1, with γ from the median distance,
// landmarks by RPCholesky lose less in the mean than uniform ones, and centres of clusters by far.
func TestRandomPivotsBeatUniformOnesOnRealData(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for path, opt := range map[string]dataset.Options{
		"pendigits/pendigits.tra.gz":             {},
		"letter/letter-recognition.data.gz":      {Label: "0"},
		"california_housing/cal_housing.data.gz": {},
	} {
		src, err := dataset.Open(context.Background(), testenv.Data(t, path), opt)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		sum, err := dataset.Survey(context.Background(), src, dataset.SurveyOptions{Seed: 1, Sample: 3000})
		if err != nil {
			t.Fatal(err)
		}
		scaler, err := dataset.NewScaler("standard", sum)
		if err != nil {
			t.Fatal(err)
		}
		x := matrix.Rows{Dense: gather(scaler.Apply(sum.Sample, new(dataset.Workspace)), allOf(sum.Sample.Len()))}
		gamma, err := kernel.MedianGamma(x, 1, "rbf")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []int{20, 100} {
			mean := map[string]float64{}
			const seeds = 5
			for seed := range uint64(seeds) {
				for _, name := range []string{"uniform", "kmeans", "leverage", "rpcholesky"} {
					cfg := Config{Map: "nystrom", Kernel: kernel.Kernel{Name: "rbf", Gamma: gamma}, Features: m,
						Seed: seed, Options: Options{Landmarks: name}}
					mean[name] += lost(t, cfg, x) / seeds
				}
			}
			t.Logf("%s, %d landmarks, share of the trace lost: %.4v", path, m, mean)
			if mean["rpcholesky"] > mean["uniform"] || mean["kmeans"] > 0.8*mean["uniform"] {
				t.Errorf("%s, %d landmarks: rpcholesky loses %.4f, kmeans %.4f, uniform %.4f", path, m,
					mean["rpcholesky"], mean["kmeans"], mean["uniform"])
			}
		}
	}
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
