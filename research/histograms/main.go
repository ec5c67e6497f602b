// Command histograms compares the maps of kernels of histograms: their errors by the number of
// features of a dimension or of all, on data sets of histograms, as a table and as a plot.
//
//	go run ./histograms -data ~/data -table docs/histograms.md -plot docs/histograms.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"mercer/research/papers"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("histograms: ")
	data := flag.String("data", ".", "the folder of the data sets' folders")
	table := flag.String("table", "histograms.md", "the table to write")
	plot := flag.String("plot", "histograms.svg", "the plot to write")
	flag.Parse()
	all, missing, err := papers.HistogramErrors(context.Background(), *data)
	if err != nil {
		log.Fatal(err)
	}
	if missing != nil {
		log.Printf("not in %s: %s", *data, strings.Join(missing, ", "))
	}
	if err := os.WriteFile(*table, []byte(markdown(all)), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*plot, []byte(svg(all)), 0o644); err != nil {
		log.Fatal(err)
	}
}

// introduction is the head of the document.
const introduction = `# Errors of the maps of histogram kernels

‖ZZᵀ − K‖/‖K‖ (Frobenius) of 200 rows by the number of features per dimension; maps are fitted to 500 other rows.
Written by ` + "`cd research && go run ./histograms -data ~/data -table docs/histograms.md -plot docs/histograms.svg`" + `, with the data sets' folders in ` + "`~/data`" + `. The rows of
scikit-learn are its ` + "`AdditiveChi2Sampler`" + ` with 1, 2 and 3 steps. h is the degree of homogeneity, 1 unless given. [histograms.svg](histograms.svg) has the curves for h = 1.

exp-chi2 is a chain of a map c(x) of chi2 and a map of rbf. Its tables by the number of features per dimension have the error of exp(−γ‖c(x) − c(y)‖²): that of the first map, and the limit for many features
of the second. Its tables by D, the total number of features, have the error of the whole chain, with ` + "`sorf`" + ` (or ` + "`rff`" + `) as the second map and the default number of features in the first: means over five seeds,
as for the skewed kernels. γ of exp-chi2 and c of the skewed kernels are such that the median of k over pairs of rows is 1/e.
`

// markdown writes a table for each kernel and data set, a row for each map.
func markdown(figures []papers.ErrorFigure) string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, f := range figures {
		numbers := columns(f)
		corner := "map"
		if f.Total {
			corner = "map, by D"
		}
		fmt.Fprintf(&b, "\n## %s, %s\n\n| %s |", title(f), f.Set, corner)
		for _, n := range numbers {
			fmt.Fprintf(&b, " %d |", n)
		}
		fmt.Fprintf(&b, "\n| --- |%s\n", strings.Repeat(" --- |", len(numbers)))
		for _, c := range f.Curves {
			fmt.Fprintf(&b, "| %s |", c.Name)
			for _, n := range numbers {
				if at := slices.Index(c.Features, n); at >= 0 {
					fmt.Fprintf(&b, " %.2g |", c.Errors[at])
				} else {
					b.WriteString(" |")
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// title is the kernel of a figure, and what the figure goes by if it may be either.
func title(f papers.ErrorFigure) string {
	if f.Total {
		return f.Kernel + " by D"
	}
	return f.Kernel
}

// columns are the numbers of features of all curves, in order.
func columns(f papers.ErrorFigure) []int {
	var numbers []int
	for _, c := range f.Curves {
		numbers = append(numbers, c.Features...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
