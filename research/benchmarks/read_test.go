package main

import (
	"maps"
	"testing"
)

func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name    string
		read    reader
		out     string
		numbers map[string]float64
		words   map[string]string
	}{
		{"JSON", readJSON, `{"error":0.5,"seconds":{"total":2,"map":1},"trained":{"learner":"svm","classes":["a"]},"ok":true}`,
			map[string]float64{"error": 0.5, "seconds.total": 2, "seconds.map": 1}, map[string]string{"trained.learner": "svm"}},
		{"mercer bench", readBench, `{"level":"avx2","peak":{"f32_gflops":100},"results":[` +
			`{"name":"sgemm","shape":"4x5x6","threads":2,"value":180,"unit":"GFLOP/s","share":0.9}]}`,
			map[string]float64{"peak.f32_gflops": 100, "sgemm 4x5x6 @2": 180, "sgemm 4x5x6 @2 share": 0.9}, map[string]string{"level": "avx2"}},
		{"go test", readGo(2), "goos: linux\nBenchmarkCSV/digits=3-2   \t 10\t 20 ns/op\t 30.5 MB/s\nPASS\n",
			map[string]float64{"CSV/digits=3 ns/op": 20, "CSV/digits=3 MB/s": 30.5}, nil},
		{"go test on one thread", readGo(1), "BenchmarkA/x-3 10 20 ns/op\n", map[string]float64{"A/x-3 ns/op": 20}, nil},
		{"photographs", readPhotographs, "240 images, 169 locations of 384 channels each; descriptors 2.5 ms an image\n" +
			"pooling                   features   accuracy, %          pool, ms     classify, ms   memory, MB\n" +
			"mean of orf, 2,000            2000    57.2 ± 2.2            0.6469          0.01125          1.6\n",
			map[string]float64{"mean of orf, 2,000 features": 2000, "mean of orf, 2,000 accuracy": 57.2, "mean of orf, 2,000 scatter": 2.2,
				"mean of orf, 2,000 pooling": 0.6469, "mean of orf, 2,000 scores": 0.01125, "mean of orf, 2,000 memory": 1.6}, nil},
		{"nothing", readNothing, "anything", map[string]float64{}, nil},
	} {
		numbers, words, err := c.read(c.out)
		if err != nil || !maps.Equal(numbers, c.numbers) || !maps.Equal(words, c.words) {
			t.Errorf("%s: %v, %v, %v", c.name, numbers, words, err)
		}
	}
	for name, c := range map[string]struct {
		read reader
		out  string
	}{
		"JSON":               {readJSON, "accuracy 0.9"},
		"mercer bench":       {readBench, `{"results":[{"name":5}]}`},
		"no benchmarks":      {readGo(1), "PASS\n"},
		"no number":          {readGo(1), "BenchmarkA 10 many ns/op\n"},
		"no table of images": {readPhotographs, "pooling: no such file\n"},
	} {
		if numbers, _, err := c.read(c.out); err == nil {
			t.Errorf("%s: %v is read", name, numbers)
		}
	}
}
