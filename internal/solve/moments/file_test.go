package moments

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/testenv"
)

func fileOf(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// testFile has two parts, one of them with rows without targets.
func testFile(pipeline string) *File {
	z, y := sample(7, 60, 5, 2, 3)
	f := &File{Pipeline: json.RawMessage(pipeline),
		Tensors: map[string]*safetensors.Tensor{"scale.shift": {Shape: []int{3}, F64: []float64{1, 2, 3}}}}
	for p := range 2 {
		s := New(5, 2)
		for i := p; i < 60; i += 2 {
			row := y[i*2 : i*2+2]
			if p == 1 && i%3 == 0 {
				row = nil
			}
			s.AddRow(z.Row(i), row, 1+float64(i%4))
		}
		f.Parts = append(f.Parts, s)
	}
	return f
}

func TestSavedStatisticsComeBack(t *testing.T) {
	f := testFile(`{"map":"sorf"}`)
	text := fileOf(t, f)
	got, err := ReadFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Pipeline) != `{"map":"sorf"}` || len(got.Parts) != 2 || len(got.Tensors) != 1 {
		t.Fatalf("got %+v", got)
	}
	for i, s := range got.Parts {
		same(t, s, f.Parts[i])
		a, b := s.Moments(), f.Parts[i].Moments()
		if a.Rows != b.Rows || a.Used != b.Used || a.Weight != b.Weight || a.Labelled != b.Labelled {
			t.Errorf("part %d: got %d %d %g %g", i, a.Rows, a.Used, a.Weight, a.Labelled)
		}
		for j := range a.MeanL {
			if d := a.MeanL[j] - b.MeanL[j]; d > 1e-14 || d < -1e-14 {
				t.Errorf("part %d: the mean of rows with targets is off by %g", i, d)
			}
		}
	}
	if !bytes.Equal(fileOf(t, got), text) {
		t.Error("written again, the file differs")
	}
}

func TestContinuedStatisticsAreThoseOfOnePass(t *testing.T) {
	for d, mean := range map[int]float64{7: 50, narrowFrom: 1e4} {
		z, y := sample(8, 1300, d, 2, mean)
		f := &File{Pipeline: json.RawMessage(`{}`), Parts: []*Stats{New(d, 2)}}
		f.Parts[0].Add(z.Slice(0, 700), y[:1400], nil)
		text := fileOf(t, f)
		got, err := ReadFile(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		s := got.Parts[0]
		s.Add(z.Slice(700, 1300), y[1400:], nil)
		if s.Rows() != 1300 {
			t.Errorf("%d rows", s.Rows())
		}
		if d < narrowFrom {
			agree(t, s, z, y, ones(1300), 1e-12)
			continue
		}
		whole := New(d, 2)
		whole.Add(z, y, nil)
		a, b := s.Moments(), whole.Moments()
		for i, v := range b.MeanZ {
			if math.Abs(a.MeanZ[i]-v) > 1e-12*math.Abs(v) {
				t.Fatalf("mean %d: %.17g, in one pass %.17g", i, a.MeanZ[i], v)
			}
			for j := i; j < d; j++ {
				// As in TestNarrowBlocksCostNoAccuracy, and a variance of 1.
				if h := b.H[i*d+j]; math.Abs(a.H[i*d+j]-h) > 1.8e-6*1300 {
					t.Fatalf("H[%d, %d] is %g, in one pass %g", i, j, a.H[i*d+j], h)
				}
			}
		}
		// What is added around a shift that float32 does not hold would be off by its rounding.
		for i, v := range b.V {
			if math.Abs(a.V[i]-v) > 1e-7*1300 {
				t.Fatalf("V[%d] is %.15g, in one pass %.15g", i, a.V[i], v)
			}
		}
	}
}

func TestStatisticsOfAnotherPipelineAreRefused(t *testing.T) {
	a := testFile(`{"kernel":{"gamma":0.5,"name":"rbf"},"scale":"standard"}`)
	for want, b := range map[string]*File{
		"kernel.gamma is 0.5 here and 0.25 there": testFile(`{"kernel":{"gamma":0.25,"name":"rbf"},"scale":"standard"}`),
		"scale is \"standard\" here and null":     testFile(`{"kernel":{"gamma":0.5,"name":"rbf"}}`),
	} {
		if err := a.Merge(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	b := testFile(string(a.Pipeline))
	b.Tensors["scale.shift"].F64[1] = 2.5
	if err := a.Merge(b); err == nil || !strings.Contains(err.Error(), "scale.shift") {
		t.Errorf("%v; want scale.shift", err)
	}
	if a.Parts[0].Rows() != 30 {
		t.Error("rows were added all the same")
	}
	// The order of names in JSON does not matter.
	if err := a.Merge(testFile(`{"scale":"standard","kernel":{"name":"rbf","gamma":0.5}}`)); err != nil || a.Parts[0].Rows() != 60 {
		t.Errorf("%v, %d rows", err, a.Parts[0].Rows())
	}
}

func TestFilesOfDifferentPartsMergeAsOne(t *testing.T) {
	a, b := testFile(`{}`), testFile(`{}`)
	b.Join()
	if err := a.Merge(b); err != nil || len(a.Parts) != 1 || a.Parts[0].Rows() != 120 {
		t.Errorf("%v: %d parts, %d rows", err, len(a.Parts), a.Parts[0].Rows())
	}
}

func FuzzReadFile(f *testing.F) {
	text := fileOf(f, testFile(`{"map":"sorf"}`))
	f.Add(text)
	for _, change := range []string{`"d\":5`, `"k\":2`, `"weight\":`, `"rows\":30`, `version":"1`, `"F64"`} {
		damaged := bytes.Replace(text, []byte(change), []byte(strings.Repeat("7", len(change))), 1)
		safetensors.Seal(damaged)
		f.Add(damaged)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer testenv.Bounded(t, len(data))()
		safetensors.Seal(data)
		got, err := ReadFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		// What was accepted can be used.
		got.Join()
		got.Parts[0].Moments()
		if err := got.Write(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}
