package main

import (
	"math"

	"mercer/matrix"
)

// Local descriptors after SIFT (Lowe 2004), dense and for each plane of an image on its own: a
// patch of 4×4 cells of 4×4 pixels, each a histogram of the directions of gradients, 8 of them.
const (
	cell         = 4
	cells        = side / cell
	orientations = 8
	patch        = 4 // cells
	stride       = 3 // cells
	across       = (cells-patch)/stride + 1
	locations    = across * across
	perPlane     = patch * patch * orientations
	channels     = 3 * perPlane
)

// descriptors writes the descriptors of an image to the rows of dst, locations×channels.
func descriptors(p picture, dst *matrix.Dense) {
	for k, plane := range p.planes {
		h := histograms(plane)
		for y := range across {
			for x := range across {
				row := dst.Row(y*across + x)[k*perPlane:][:perPlane]
				for c := range patch * patch {
					from := ((y*stride+c/patch)*cells + x*stride + c%patch) * orientations
					copy(row[c*orientations:], h[from:from+orientations])
				}
				normalise(row)
			}
		}
	}
}

// histograms are those of all cells of a plane: each gradient's length goes to the two nearest
// of the directions.
func histograms(plane []float32) []float32 {
	h := make([]float32, cells*cells*orientations)
	at := func(x, y int) float64 {
		return float64(plane[min(max(y, 0), side-1)*side+min(max(x, 0), side-1)])
	}
	for y := range side {
		for x := range side {
			dx, dy := at(x+1, y)-at(x-1, y), at(x, y+1)-at(x, y-1)
			length := math.Hypot(dx, dy)
			if length == 0 {
				continue
			}
			turn := (math.Atan2(dy, dx)/(2*math.Pi) + 1) * orientations
			low := math.Floor(turn)
			share := turn - low
			bins := h[((y/cell)*cells+x/cell)*orientations:][:orientations]
			bins[int(low)%orientations] += float32(length * (1 - share))
			bins[int(low+1)%orientations] += float32(length * share)
		}
	}
	return h
}

// normalise brings a patch to length 1, bounds its elements by 0.2 and brings it to length 1
// again; a patch with hardly any gradients stays near 0, as it is noise.
func normalise(row []float32) {
	for range 2 {
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		factor := float32(1 / math.Sqrt(sum+1e-4))
		for i := range row {
			row[i] = min(0.2, row[i]*factor)
		}
	}
}
