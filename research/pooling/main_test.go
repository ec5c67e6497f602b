package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// archive writes noisy images of stripes that lie, stand or slant, each in its folder, and a
// text that is none of them.
func archive(t *testing.T, images int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stripes.tar.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	out := tar.NewWriter(z)
	r := random.New(1, "stripes")
	notes := "These are stripes."
	if err := out.WriteHeader(&tar.Header{Name: "lying/notes.txt", Mode: 0o644, Size: int64(len(notes)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte(notes)); err != nil {
		t.Fatal(err)
	}
	for class, label := range []string{"lying", "standing", "slanting"} {
		for i := range images {
			img := image.NewGray(image.Rect(0, 0, 60, 40+i))
			shift := r.Intn(8)
			for y := range 40 + i {
				for x := range 60 {
					at := []int{y, x, x + y}[class]
					img.SetGray(x, y, color.Gray{Y: uint8(100*((at+shift)/4%2) + r.Intn(100))})
				}
			}
			var data bytes.Buffer
			if err := png.Encode(&data, img); err != nil {
				t.Fatal(err)
			}
			if err := out.WriteHeader(&tar.Header{Name: fmt.Sprintf("%s/%d.png", label, i),
				Mode: 0o644, Size: int64(data.Len()), Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write(data.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestStripesAreTold(t *testing.T) {
	for _, compared := range [][]method{methods(), sparsities()} {
		var out bytes.Buffer
		if err := run(context.Background(), &out, archive(t, 8), compared, 5, 3, 1, 10); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2+len(compared) {
			t.Fatalf("the table is\n%s", &out)
		}
		for i, m := range compared {
			line := strings.TrimPrefix(lines[2+i], m.name)
			percent, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
			if err != nil || percent < 60 {
				t.Errorf("%s", lines[2+i])
			}
			fields := strings.Fields(line) // features, mean ± deviation, times, memory
			for k, timed := range []bool{m.cfg != nil, true} {
				if ms, err := strconv.ParseFloat(fields[4+k], 64); err != nil || (ms > 0) != timed {
					t.Errorf("time %d is %s: %s", k, fields[4+k], lines[2+i])
				}
			}
		}
	}
}

// A map is called in the table what it is.
func TestMethodsAreNamedByWhatTheyRun(t *testing.T) {
	for _, m := range methods() {
		if m.cfg == nil {
			continue
		}
		name := m.cfg.Method
		if m.cfg.Map != nil {
			name = m.cfg.Map.Map
		}
		if !strings.Contains(m.name, name) {
			t.Errorf("%q runs %s", m.name, name)
		}
	}
	seen := map[string]bool{}
	for _, m := range sparsities() {
		if want := fmt.Sprintf("t = %d, s = %g", m.cfg.T, m.cfg.Sparsity); !strings.HasSuffix(m.name, want) || m.cfg.Method != "cbp-krp" {
			t.Errorf("%q runs %s, %s", m.name, m.cfg.Method, want)
		}
		seen[m.name] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d settings, but table 5.6 has 9", len(seen))
	}
}

func TestArchivesThatAreNone(t *testing.T) {
	text := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(text, []byte("no archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		text:              "a.tar.gz: gzip: invalid header",
		archive(t, 0):     "no images",
		text + ".missing": "no such file",
	} {
		if _, err := readArchive(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if err := run(context.Background(), &bytes.Buffer{}, archive(t, 4), methods(), 3, 2, 1, 1); err == nil ||
		!strings.Contains(err.Error(), "class lying has 4 images, but 5 are to be drawn") {
		t.Errorf("too few images: %v", err)
	}
}
