package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/model"
)

//go:embed page.html
var pageText string

//go:embed page.js
var pageScript string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageData is what the page shows.
type pageData struct {
	Style  template.CSS
	Script template.JS
	Models []pageModel
	Model  *pageModel // the one that is shown
	Fields []pageField
	Card   [][2]string

	Background string // what contributions compare with
}

type pageModel struct {
	Name, Version, Task, At, Link, Card string
	Level                               string // of intervals, "" for none
	Route                               string // the models that answer for the name, "" for itself
	Now                                 bool
}

// pageField is an input of the form.
type pageField struct {
	Name   string
	Values []string // of a category; nil for a number
	Value  string   // to begin with
	Text   bool     // neither

	Seen     string // the range of the training, "" if it is not known
	Min, Max float64
}

// mostFields bounds the form; more columns are given as a CSV file.
const mostFields = 200

// page shows the models, and a form for one of them. Clients that do not ask for HTML are told that the server is alive, as those
// of KServe v1 expect here.
func (c *call) page() error {
	c.w.Header().Set("Vary", "Accept")
	if !strings.Contains(c.r.Header.Get("Accept"), "text/html") {
		return c.json([]byte("{\"status\":\"alive\"}\n"))
	}
	t := c.models.now.Load()
	data := pageData{Style: template.CSS(pageStyle), Script: template.JS(pageScript)}
	shown := c.r.URL.Query().Get("model")
	names := c.names(t)
	if !slices.Contains(names, shown) && len(names) > 0 {
		shown = names[0]
	}
	for _, name := range names {
		v, route := c.standsFor(name)
		m := pageModel{Name: name, Version: v.version, Task: v.model.Info().Task, At: "/models/" + url.PathEscape(name) + "/predict",
			Card: "/models/" + url.PathEscape(name) + "/card", Route: route,
			Link: "/?model=" + url.QueryEscape(name), Now: name == shown}
		if level, err := v.model.IntervalLevel(0); err == nil {
			m.Level = strconv.FormatFloat(level, 'g', -1, 64)
		}
		data.Models = append(data.Models, m)
		if m.Now {
			data.Model = &m
			if data.Fields, data.Card = formOf(v), card(v); route != "" {
				data.Card = append([][2]string{{"Answered by", route}}, data.Card...)
			}
			data.Background = "rows made from the means and deviations of the training"
			if v.backFile != "" {
				data.Background = "rows of data"
			}
		}
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, data); err != nil {
		return &httpError{500, err}
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'")
	h.Set("Cache-Control", "no-cache")
	_, err := c.w.Write(b.Bytes())
	return err
}

// names are those of the models and of the routes to them for which a model is served.
func (s *Server) names(t *table) []string {
	all := slices.Clone(t.names)
	for name, to := range s.routes {
		if to.targets != nil && t.byName[name] == nil {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(all, func(name string) bool { v, _ := s.standsFor(name); return v == nil })
}

// standsFor is the model that answers most requests for a name, and who answers how many where there are routes; nil if none is served.
func (s *Server) standsFor(name string) (v *served, route string) {
	to := s.routes[name]
	if to == nil || to.targets == nil {
		v, _ = s.models.find(name, "")
		return v, ""
	}
	var there []*served
	var shares []float64
	sum, most := 0.0, 0.0
	for _, t := range to.targets {
		on, err := s.models.find(t.Model, t.Version)
		if err != nil {
			continue
		}
		if v == nil || t.Share > most {
			v, most = on, t.Share
		}
		sum += t.Share
		there, shares = append(there, on), append(shares, t.Share)
	}
	var said []string
	for i, on := range there {
		text := on.name + "/" + on.version
		if len(there) > 1 && sum > 0 {
			text += fmt.Sprintf(" (%.3g %%)", 100*shares[i]/sum)
		}
		said = append(said, text)
	}
	return v, strings.Join(said, ", ")
}

// formOf are the inputs of a form for a model, with the means of the training.
func formOf(v *served) []pageField {
	schema := &v.model.Info().Schema
	in := newInput(v.model, 1)
	if len(in.columns) > mostFields {
		return nil
	}
	var all []pageField
	for i, name := range in.columns {
		f := pageField{Name: name}
		if i < len(schema.Columns) {
			c := &schema.Columns[i]
			f.begin(c)
		}
		if f.Values == nil && f.Value == "" && !f.Text {
			f.Value = "0"
		}
		all = append(all, f)
	}
	return all
}

// begin gives a field a typical value, and the range of the training.
func (f *pageField) begin(c *dataset.Column) {
	number := func(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }
	f.Values, f.Text = c.Categories, isText(c)
	switch {
	case f.Text && c.Seen != nil:
		f.Value = c.Seen.Usual
	case f.Text && c.Coding != nil && len(c.Coding.Values) > 0:
		f.Values = c.Coding.Values
	case f.Text:
	case c.Seen != nil:
		f.Value = number(c.Seen.Mean)
		f.Min, f.Max = c.Seen.Min, c.Seen.Max
		f.Seen = number(f.Min) + " to " + number(f.Max)
	case c.Mean != 0:
		f.Value = number(c.Mean)
	}
}

// modelCard is everything that the model file says of the model.
func (c *call) modelCard() error {
	on, err := c.find(c.r, c.r.PathValue("name"), "")
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Info    *model.Info `json:"info"`
	}{on.name, on.version, on.model.Info()}, "", "  ")
	if err != nil {
		return &httpError{500, err}
	}
	return c.json(append(text, '\n'))
}

// rounded is a number to four digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil || math.IsInf(r, 0) {
		return 0
	}
	return r
}

// card says what a model is.
func card(v *served) [][2]string {
	info := v.model.Info()
	all := [][2]string{
		{"Version", v.version}, {"Task", info.Task},
		{"Trained on", units.Count(info.Training.Rows) + " rows"},
		{"Inputs", fmt.Sprintf("%s columns, %s dimensions", units.Count(len(newInput(v.model, 1).columns)), units.Count(v.model.Dim()))},
		{"Learner", info.Training.Learner}, {"Scaling", info.Scale},
	}
	if c := names(v.model); c != nil {
		all = append(all, [2]string{"Classes", listed(c)})
	}
	if info.Feature != nil {
		all = append(all, [2]string{"Map", fmt.Sprintf("%s, %s features", info.Feature.Map, units.Count(info.Feature.Features))})
	}
	return all
}
