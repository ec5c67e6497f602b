package render

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"mercer/eval"
	"mercer/internal/engine/report"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// Clusters are clusters with what is known of them.
type Clusters struct {
	Model

	// Agreement is that with the labels, nil if rows have none.
	Agreement *eval.Agreement

	// Silhouette is that of a sample of Sampled rows.
	Silhouette float64
	Sampled    int

	// Plane are the leading principal components of the features of these rows, with their clusters and labels.
	Plane   *matrix.Dense
	Cluster []int
	Labels  []string
}

// JSON is what cluster --json prints of clusters whose model is in a file.
func (c *Clusters) JSON(path string) any {
	v := map[string]any{"model": path, "trained": c.Info, "sampled": c.Sampled}
	if !math.IsNaN(c.Silhouette) {
		v["silhouette"] = c.Silhouette
	}
	if c.Agreement != nil {
		v["adjusted_rand"], v["normalized_mutual_information"] = c.Agreement.Rand(), c.Agreement.Information()
	}
	return v
}

// Text writes what clusters are like.
func (c *Clusters) Text(w io.Writer, data string) {
	c.lines(linesTo(w), data)
}

func (c *Clusters) lines(line lines, data string) {
	line("data", "%s: %s rows × %s dimensions", data, units.Count(c.Training.Rows), units.Count(c.Dim))
	modelLines(line, c.Model)
	line("quality", "silhouette %.4f of %s", c.Silhouette, units.Plural(c.Sampled, "row"))
	if c.Agreement != nil {
		line("labels", "agree by an adjusted Rand index of %.4f and a normalised mutual information of %.4f", c.Agreement.Rand(), c.Agreement.Information())
	}
}

// Page is the page of clusters; data names the rows.
func (c *Clusters) Page(data string) *report.Page {
	sizes := model.ReportOf[*learn.KMeansReport](&c.Training).Sizes
	page := &report.Page{Title: "Clusters of " + data, Subtitle: fmt.Sprintf("%d clusters of %s", len(sizes), units.Plural(c.Training.Rows, "row"))}
	about := page.Section("Clusters")
	about.Facts(factLines(func(line lines) { c.lines(line, data) })...)
	table := &report.Table{Columns: []report.Column{{Name: "cluster"}, {Name: "rows", Number: true}, {Name: "share", Number: true}}}
	if c.Agreement != nil {
		table.Columns = append(table.Columns, report.Column{Name: "label of most"}, report.Column{Name: "of these", Number: true})
	}
	total := 0.0
	for _, n := range sizes {
		total += n
	}
	for t, n := range sizes {
		row := []string{c.Classes[t], fmt.Sprintf("%.6g", n), fmt.Sprintf("%.1f %%", 100*n/total)}
		if c.Agreement != nil {
			label, share := c.Agreement.Label(c.Classes[t])
			row = append(row, label, fmt.Sprintf("%.1f %%", 100*share))
		}
		table.Rows = append(table.Rows, row)
	}
	about.Table(table)
	plane := page.Section("The plane of the leading components")
	names := make([]string, len(c.Cluster))
	for i, t := range c.Cluster {
		names[i] = c.Classes[t]
	}
	plane.Figure(c.picture("clusters", "Rows by cluster", names))
	if c.Labels != nil {
		plane.Figure(c.picture("labels", "Rows by label", c.Labels))
	}
	return page
}

// mostClouds is how many kinds of points a picture tells apart.
const mostClouds = 8

// picture is the plane with points of several names: those of most points apart, all others together.
func (c *Clusters) picture(name, title string, names []string) *report.Figure {
	count := map[string]int{}
	var order []string
	for _, n := range names {
		if count[n]++; count[n] == 1 {
			order = append(order, n)
		}
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	at := map[string]int{}
	s := &report.Scatter{X: report.Axis{Name: "first component"}, Y: report.Axis{Name: "second component"}}
	for i, n := range order {
		if i < mostClouds {
			s.Clouds = append(s.Clouds, report.Cloud{Name: n})
		} else {
			s.Clouds[mostClouds-1].Name = "others"
		}
		at[n] = min(i, mostClouds-1)
	}
	for i, n := range names {
		cloud := &s.Clouds[at[n]]
		cloud.X, cloud.Y = append(cloud.X, float64(c.Plane.Row(i)[0])), append(cloud.Y, float64(c.Plane.Row(i)[1]))
	}
	return &report.Figure{Name: name, Title: title, Drawing: s,
		Caption: fmt.Sprintf("The two directions in feature space in which %s differ most.", units.Plural(len(names), "row"))}
}
