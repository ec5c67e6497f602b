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

	"mercer/internal/random"
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
			if err := out.WriteHeader(&tar.Header{Name: fmt.Sprintf("%s/%d.png", label, i), Mode: 0o644, Size: int64(data.Len()), Typeflag: tar.TypeReg}); err != nil {
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
	var out bytes.Buffer
	if err := run(context.Background(), &out, archive(t, 8), 5, 3, 1, 10); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+len(methods()) {
		t.Fatalf("the table is\n%s", &out)
	}
	for i, m := range methods() {
		line := strings.TrimPrefix(lines[2+i], m.name)
		percent, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
		if err != nil || percent < 60 {
			t.Errorf("%s", lines[2+i])
		}
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
	if err := run(context.Background(), &bytes.Buffer{}, archive(t, 4), 3, 2, 1, 1); err == nil || !strings.Contains(err.Error(), "class lying has 4 images, but 5 are to be drawn") {
		t.Errorf("too few images: %v", err)
	}
}
