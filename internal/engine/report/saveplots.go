package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"mercer/internal/engine/atomicfile"
)

// dotsPerInch of PNG files: 72 points are an inch, so that a picture as wide as a column is
// 1,222 pixels wide.
const dotsPerInch = 200

// SavePlots writes the figures of the page into a directory, which it makes where it is
// missing, as NAME.svg and NAME.png. Each file appears whole or not at all. It returns their paths.
func (p *Page) SavePlots(dir string) ([]string, error) {
	figures := p.Figures()
	if len(figures) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for i, name := range names(figures) {
		pic, err := figures[i].lay()
		if err != nil {
			return paths, err
		}
		for _, kind := range []struct {
			extension string
			write     func(io.Writer, picture) error
		}{
			{".svg", func(w io.Writer, pic picture) error {
				_, err := io.WriteString(w, pic.svg(figures[i].Title, name, pictureStyle(""), "plot"))
				return err
			}},
			{".png", writePNG},
		} {
			path := filepath.Join(dir, name+kind.extension)
			if err := savePlot(path, pic, kind.write); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func savePlot(path string, pic picture, write func(io.Writer, picture) error) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f, pic); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Commit()
}

func writePNG(w io.Writer, pic picture) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(pic.width), vg.Length(pic.height)), vgimg.UseDPI(dotsPerInch))
	pic.draw(&pen{Canvas: c, width: pic.width, height: pic.height})
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}
