package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/image/draw"
)

// side is the length of the square that images are brought to, in pixels.
const side = 160

// picture is a labelled image: three planes of side×side numbers.
type picture struct {
	label  string
	planes [3][]float32
}

// imageEndings are the ends of names of images; an archive may hold other files too.
var imageEndings = []string{".jpg", ".jpeg", ".png"}

// readArchive reads the images of a .tar.gz, whose folders are the classes.
func readArchive(name string) ([]picture, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []picture
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || strings.HasPrefix(path.Base(h.Name), ".") ||
			!slices.Contains(imageEndings, strings.ToLower(path.Ext(h.Name))) {
			continue
		}
		img, _, err := image.Decode(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, h.Name, err)
		}
		all = append(all, newPicture(path.Base(path.Dir(h.Name)), img))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no images", name)
	}
	return all, nil
}

// newPicture scales an image so that its longer side fits, on black, and takes it apart into
// intensity and two opponent colours.
func newPicture(label string, img image.Image) picture {
	b := img.Bounds()
	scale := float64(side) / float64(max(b.Dx(), b.Dy()))
	w, h := max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	at := image.Rect((side-w)/2, (side-h)/2, (side-w)/2+w, (side-h)/2+h)
	draw.CatmullRom.Scale(square, at, img, b, draw.Src, nil)
	p := picture{label: label}
	for k := range p.planes {
		p.planes[k] = make([]float32, side*side)
	}
	for i := range side * side {
		r, g, b := float32(square.Pix[4*i])/255, float32(square.Pix[4*i+1])/255, float32(square.Pix[4*i+2])/255
		p.planes[0][i] = (r + g + b) / 3
		p.planes[1][i] = (r - g) / 2
		p.planes[2][i] = (r + g - 2*b) / 4
	}
	return p
}
