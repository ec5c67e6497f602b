package model_test

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/model"
	"mercer/train"
)

// A small file whose map holds much is refused before the memory is taken, and read where it is allowed.
func TestMapsOfFilesAreBounded(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("1 1:1 20000:0.5\n0 2:1 19999:0.25\n1 1:2 3:1\n0 2:2 5:1\n")
	src, err := dataset.OpenBytes(context.Background(), "rows", []byte(rows.String()), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for name, cfg := range map[string]train.Config{
		"map": {Map: train.Map{Name: feature.RFF, Features: 64}, Learner: train.Ridge{Lambda: 1}},
		"chain": {Map: train.Map{Name: feature.Chain, Steps: []feature.Config{{Map: "countsketch", Features: 4096},
			{Map: feature.RFF, Features: 256}}}, Learner: train.Ridge{Lambda: 1}},
	} {
		m, _, err := train.Fit(context.Background(), src, cfg, train.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		read := func(most int64) error {
			_, err := model.Options{MaxMemory: most}.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
			return err
		}
		if err := read(0); err != nil {
			t.Errorf("%s: by default: %v", name, err)
		}
		if err := read(1 << 30); err != nil {
			t.Errorf("%s: with 1 GiB: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = read(1 << 20)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "MERCER_MAX_MEMORY") {
			t.Errorf("%s: with 1 MiB: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*file.Len()+4<<20) {
			t.Errorf("%s: %d bytes were taken for a file of %d that is refused", name, took, file.Len())
		}
		t.Setenv("MERCER_MAX_MEMORY", "1MiB")
		if err := read(0); err == nil {
			t.Errorf("%s: the environment's bound is not kept", name)
		}
		t.Setenv("MERCER_MAX_MEMORY", "much")
		if err := read(0); err == nil || !strings.Contains(err.Error(), `"much"`) {
			t.Errorf("%s: %v", name, err)
		}
		t.Setenv("MERCER_MAX_MEMORY", "")
	}
}
