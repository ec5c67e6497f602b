package main

import (
	"fmt"

	"mercer/internal/engine/units"
)

// streams are trainings on rows that are made as they are read.
func streams(s sizes) *section {
	out := &section{
		name:  "streams",
		title: "Memory of a stream",
		intro: "A ridge regression on generated rows of 20 dimensions that are nowhere held: its memory grows with the square of the " +
			"features and not with the rows ([learners.md](learners.md) has the formula).",
	}
	t := table{head: []string{"rows", "features", "peak memory", "rows a second"}}
	for _, c := range []struct{ rows, features int }{
		{s.n(100_000, 1000), s.n(512, 64)},
		{s.n(1_000_000, 2000), s.n(512, 64)},
		{s.n(10_000_000, 3000), s.n(512, 64)},
		{s.n(50_000, 1000), s.n(2048, 128)},
		{s.n(50_000, 1000), s.n(4096, 256)},
	} {
		id := fmt.Sprintf("%d-%d", c.rows, c.features)
		line := fmt.Sprintf("mercer demo --part stream --rows %d --features %d --json", c.rows, c.features)
		out.groups = append(out.groups, group{once: c.rows > 1_000_000, commands: []command{{id, line, readJSON}}})
		t.add(label(units.Count(c.rows)), label(units.Count(c.features)),
			value{metric: metric{id, "stream.peak_rss_bytes"}, scale: 1e-6, format: tenths, unit: " MB"}, val(id, "stream.rows_per_second"))
	}
	out.tables = []table{t}
	return out
}

// parsers are those of package dataset.
func parsers(s sizes) *section {
	out := &section{
		name:  "parsers",
		title: "Parsers",
		intro: "One parsing goroutine, of decompressed bytes. Short whole numbers are the slowest text, as a cell takes some 20 ns of which " +
			"the digits are the least. Compressed files are bound by the one goroutine that unpacks them.",
	}
	out.turns(command{"parse", goBench("./dataset", "LIBSVM|CSV|Array", 1, s.text("300ms", "1x")), readGo(1)})
	t := table{head: []string{"input", "MB/s"}}
	for _, c := range [][2]string{
		{"LIBSVM, index:1 pairs", "LIBSVM/binary"},
		{"LIBSVM, 6 digits", "LIBSVM/digits=6"},
		{"LIBSVM, 15 digits", "LIBSVM/digits=15"},
		{"CSV, whole numbers", "CSV/integers"},
		{"CSV, 3 digits", "CSV/digits=3"},
		{"CSV, 6 digits", "CSV/digits=6"},
		{"CSV, 9 digits", "CSV/digits=9"},
		{"CSV, 17 digits", "CSV/digits=17"},
		{"CSV with columns of text", "CSV/text"},
		{"IDX, bytes", "Array/bytes"},
		{"NPY, float32", "Array/float32"},
		{"NPY, float64", "Array/float64"},
	} {
		t.add(label(c[0]), val("parse", c[1]+" MB/s"))
	}
	out.tables = []table{t}
	return out
}
