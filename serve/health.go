package serve

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"mercer/dataset"
)

// version is that of the program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (c *call) live() error { return c.json([]byte("{\"live\":true}\n")) }

// readyNow fails as soon as the server is closing.
func (s *Server) readyNow() error {
	s.probed.Store(true)
	if s.closing.Load() {
		return &httpError{http.StatusServiceUnavailable, errors.New("the server is closing")}
	}
	return nil
}

func (c *call) ready() error {
	if err := c.readyNow(); err != nil {
		return err
	}
	return c.json([]byte("{\"ready\":true}\n"))
}

func (c *call) ping() error {
	if err := c.readyNow(); err != nil {
		return err
	}
	return c.json([]byte("{}\n"))
}

func (c *call) versionText() error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := c.w.Write([]byte(version() + "\n"))
	return err
}

func (c *call) server() error {
	return c.json(append(appendText([]byte(`{"name":"mercer","version":`), version()), ",\"extensions\":[\"binary_tensor_data\",\"model_repository\"]}\n"...))
}

func (c *call) modelReady() error {
	if err := c.readyNow(); err != nil {
		return err
	}
	on, err := c.find(c.r, c.r.PathValue("name"), c.r.PathValue("version"))
	if err != nil {
		return err
	}
	out := appendText([]byte(`{"name":`), on.name)
	return c.json(append(out, ",\"ready\":true}\n"...))
}

// modelData describes a model: an input for each column, or one for all if they have no names, and the outputs.
func (c *call) modelData() error {
	if err := c.model(c.r.PathValue("name"), c.r.PathValue("version")); err != nil {
		return err
	}
	in := c.in
	out := appendText(append(in.out[:0], `{"name":`...), c.on.name)
	out = append(out, `,"versions":[`...)
	for i, v := range c.models.now.Load().byName[c.on.name] {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, v.version)
	}
	out = append(out, `],"platform":"mercer","inputs":[`...)
	for i, t := range in.inputs() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(append(out, `{"name":`...), t.name), `,"datatype":"`...)
		out = append(append(out, t.datatype...), `","shape":[-1`...)
		for _, s := range t.shape {
			out = fmt.Appendf(out, ",%d", s)
		}
		out = append(out, "]}"...)
	}
	out = append(out, `],"outputs":[`...)
	for i, p := range in.available() {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"name":%q,"datatype":%q,"shape":[-1`, p.name, p.datatype)
		if p.width > 1 || p.name != "prediction" {
			out = fmt.Appendf(out, ",%d", p.width)
		}
		out = append(out, "]}"...)
	}
	in.out = append(out, "]}\n"...)
	return c.json(in.out)
}

// inputs describes what the model takes.
func (in *input) inputs() []tensor {
	columns := in.m.Info().Schema.Columns
	if columns == nil || !in.m.Info().Schema.Header {
		return []tensor{{name: "input", datatype: "FP32", shape: []int64{int64(len(in.columns))}}}
	}
	var all []tensor
	for _, c := range columns {
		t := tensor{name: c.Name, datatype: "FP64"}
		if isText(&c) {
			t.datatype = "BYTES"
		}
		all = append(all, t)
	}
	return all
}

// isText says that the values of a column are texts.
func isText(c *dataset.Column) bool {
	return c.Categories != nil || c.Coding != nil && c.Coding.Kind != dataset.CodedNumber && c.Coding.Kind != dataset.CodedOffset
}

func (c *call) kserveModels() error {
	out := []byte(`{"models":[`)
	for i, name := range c.models.now.Load().names {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, name)
	}
	return c.json(append(out, "]}\n"...))
}

func (c *call) kserveModel() error {
	on, err := c.find(c.r, c.r.PathValue("action"), "")
	if err != nil {
		return err
	}
	return c.json(append(appendText([]byte(`{"name":`), on.name), ",\"ready\":true}\n"...))
}
