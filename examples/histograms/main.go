// Command histograms compares the maps of additive kernels of histograms: their errors by the
// number of features of a dimension, on data sets of histograms, as a table and as a plot.
//
//	go run ./examples/histograms -data ~/data -table docs/histograms.md -plot docs/histograms.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"mercer/papers"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("histograms: ")
	data := flag.String("data", ".", "the folder of the data sets' folders")
	table := flag.String("table", "histograms.md", "the table to write")
	plot := flag.String("plot", "histograms.svg", "the plot to write")
	flag.Parse()
	var all []papers.ErrorFigure
	for _, kernel := range []string{"chi2", "intersection", "jensen-shannon"} {
		figures, missing, err := papers.HistogramErrors(context.Background(), *data, kernel)
		if err != nil {
			log.Fatal(err)
		}
		if missing != nil {
			log.Printf("not in %s: %s", *data, strings.Join(missing, ", "))
		}
		all = append(all, figures...)
	}
	if err := os.WriteFile(*table, []byte(markdown(all)), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*plot, []byte(svg(all)), 0o644); err != nil {
		log.Fatal(err)
	}
}

// markdown writes a table for each kernel and data set, a row for each map.
func markdown(figures []papers.ErrorFigure) string {
	var b strings.Builder
	b.WriteString("# Errors of the maps of histogram kernels\n\n" +
		"‖ZZᵀ − K‖/‖K‖ (Frobenius) of 200 rows by the number of features of a dimension; maps fitted to 500 other rows.\n" +
		"Written by `go run ./examples/histograms`. In the rows of scikit-learn are the features of its `AdditiveChi2Sampler` with 1, 2 and 3 steps.\n")
	for _, f := range figures {
		terms := columns(f)
		fmt.Fprintf(&b, "\n## %s, %s\n\n| map |", f.Kernel, f.Set)
		for _, t := range terms {
			fmt.Fprintf(&b, " %d |", t)
		}
		fmt.Fprintf(&b, "\n| --- |%s\n", strings.Repeat(" --- |", len(terms)))
		for _, c := range f.Curves {
			fmt.Fprintf(&b, "| %s |", c.Name)
			at := 0
			for _, t := range terms {
				if at < len(c.Terms) && c.Terms[at] == t {
					fmt.Fprintf(&b, " %.2g |", c.Errors[at])
					at++
				} else {
					b.WriteString(" |")
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// columns are the numbers of features of all curves, in order.
func columns(f papers.ErrorFigure) []int {
	var terms []int
	for t := 1; t <= 1000; t++ {
		for _, c := range f.Curves {
			if len(terms) > 0 && terms[len(terms)-1] == t {
				break
			}
			for _, u := range c.Terms {
				if u == t {
					terms = append(terms, t)
					break
				}
			}
		}
	}
	return terms
}
