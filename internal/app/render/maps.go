package render

import (
	"fmt"
	"io"
	"strings"
)

// MapsJSON is what maps --json prints.
type MapsJSON struct {
	Maps     []MapJSON     `json:"maps"`
	Poolings []PoolingJSON `json:"poolings"`
}

// MapJSON describes a map.
type MapJSON struct {
	Map     string   `json:"map"`
	About   string   `json:"about"`
	Kernels []string `json:"kernels"` // empty: any
	Options []string `json:"options"`
	Fitted  bool     `json:"fitted"` // to a sample of rows
}

// PoolingJSON describes a way of pooling.
type PoolingJSON struct {
	Pooling string   `json:"pooling"`
	About   string   `json:"about"`
	Options []string `json:"options"`
}

// MapsText writes what maps and ways of pooling there are, with their flags.
func MapsText(w io.Writer, all MapsJSON) {
	for _, l := range all.Maps {
		kernels := strings.Join(l.Kernels, ", ")
		switch {
		case l.Map == "chain" || l.Map == "sum":
			kernels = "those of the steps"
		case kernels == "":
			kernels = "any kernel"
		}
		if l.Fitted {
			kernels += "; fitted to the data"
		}
		fmt.Fprintf(w, "  %-14s%s\n  %-14s%s\n", l.Map, l.About, "", kernels)
		if len(l.Options) > 0 {
			fmt.Fprintf(w, "  %-14s--%s\n", "", strings.Join(l.Options, " --"))
		}
	}
	fmt.Fprintln(w, "\n  pooling of bags")
	for _, l := range all.Poolings {
		var flags []string
		for _, o := range l.Options {
			if o == "map" || o == "features" {
				o = "bag-" + o
			}
			flags = append(flags, "--"+o)
		}
		fmt.Fprintf(w, "  %-14s%s\n  %-14s%s\n", l.Pooling, l.About, "", strings.Join(flags, " "))
	}
}
