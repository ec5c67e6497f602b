package render

import (
	"io"

	"mercer/internal/engine/units"
	"mercer/internal/reach/neighbours"
)

// IndexJSON is what index --json prints of an index in a file of some bytes.
func IndexJSON(i *neighbours.Info, path string, bytes int64) any {
	v := map[string]any{"output": path, "bytes": bytes, "n": i.Rows, "d": i.Schema.Dim, "features": i.Features, "next": i.Next,
		"scale": i.Scale, "why": i.Why}
	if i.Feature != nil {
		v["feature"] = i.Feature
	}
	if i.Codes != "" {
		v["codes"], v["bits"] = i.Codes, i.Bits
	}
	if i.Cells > 0 {
		v["cells"] = i.Cells
	}
	return v
}

// IndexText writes what an index in a file of some bytes holds.
func IndexText(w io.Writer, i *neighbours.Info, path string, bytes int64) {
	line := linesTo(w)
	line("scaling", "%s%s", i.Scale, because(i.Why["scale"]))
	if i.Feature != nil {
		mapLines(line, i.Feature, "", i.Why)
	}
	if i.Codes != "" {
		line("codes", "%s of %d bits", i.Codes, i.Bits)
	}
	if i.Cells > 0 {
		line("cells", "%d, by k-means", i.Cells)
	}
	line("index", "%s: %s rows × %s features (%s)", path, units.Count(i.Rows), units.Count(i.Features), units.Bytes(bytes))
}
