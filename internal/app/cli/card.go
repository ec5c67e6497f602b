package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mercer/dataset"
	"mercer/internal/app/render"
	"mercer/internal/engine/option"
	"mercer/internal/engine/report"
	"mercer/model"
	"mercer/train"
)

// cardPage is the card of the model in file path. data is the file that it was trained on, "" if that is not told.
func cardPage(m *model.Model, path, data string) (*report.Page, error) {
	c := &render.Card{File: filepath.Base(path), Command: commandOf(m)}
	var err error
	if c.SHA256, c.Bytes, err = hashOf(path); err != nil {
		return nil, err
	}
	if data != "" {
		c.Data = filepath.Base(data)
		if c.DataSHA256, c.DataBytes, err = hashOf(data); err != nil {
			return nil, err
		}
	}
	var config bytes.Buffer
	if err := json.Indent(&config, m.Info().Config, "", "  "); err != nil {
		return nil, err
	}
	c.Config = config.String()
	return render.CardPage(render.ModelOf(m), c), nil
}

// record is what a model keeps of its test.
func (t *training) record(tested *render.Tested) *model.Tested {
	r := render.Record(tested)
	for _, f := range []struct{ name, value string }{{"holdout-kind", t.divide}, {"split-group", t.data.Columns.SplitGroup},
		{"split-time", t.data.Columns.SplitTime}, {"split-column", t.data.Columns.SplitColumn}} {
		if f.value != "" {
			r.Flags += " --" + f.name + " " + quoted(f.value)
		}
	}
	if t.holdout > 0 {
		r.Flags = fmt.Sprintf(" --holdout %g", t.holdout) + r.Flags
	}
	r.Flags = strings.TrimPrefix(r.Flags, " ")
	return r
}

// hashOf is the SHA-256 of a file.
func hashOf(path string) (sum string, size int64, err error) {
	f, err := openAny(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// commandOf is a command that trains a model again, from what the model knows of its data and settings.
func commandOf(m *model.Model) string {
	info, schema := m.Info(), &m.Info().Schema
	if m.Bag() != nil {
		schema = &info.Bag.Schema
	}
	text := "mercer train DATA"
	flag := func(name, value string) {
		if value != "" {
			text += " --" + name + " " + quoted(value)
		}
	}
	list := func(name string, places []dataset.Place) {
		var names []string
		for _, p := range places {
			if schema.Header {
				names = append(names, p.Name)
			} else {
				names = append(names, fmt.Sprint(p.At))
			}
		}
		flag(name, option.Listed(names))
	}
	if info.Task == "outliers" && schema.Labels == nil {
		flag("label", "none")
	}
	if schema.Columns != nil {
		list("label", schema.Labels)
		list("id", schema.IDs)
		list("ignore", schema.Ignored)
		if schema.Weight != nil {
			list("weight", []dataset.Place{*schema.Weight})
		}
		flag("na", option.Listed(schema.NA))
		if schema.Missing != "auto" {
			flag("missing", schema.Missing)
		}
	}
	if schema.Group != nil {
		list("group", []dataset.Place{*schema.Group})
	}
	flag("label-separator", schema.LabelSeparator)
	var config map[string]json.RawMessage
	if json.Unmarshal(info.Config, &config) != nil {
		return text + " -o MODEL"
	}
	probe := newTrain()
	for _, s := range train.Settings() {
		value, there := config[s.Name]
		if !there || s.Name == "epsilon_given" {
			continue
		}
		f := probe.Flags().Lookup(strings.TrimPrefix(optionFlag(s.Name, ""), "--"))
		var word string
		switch {
		case f == nil:
			continue // told by the settings
		case f.Value.Type() == "bool":
			text += " --" + f.Name
			continue
		case json.Unmarshal(value, &word) != nil:
			word = string(value)
		}
		if word != f.DefValue || f.Name == "kernel" && train.LearnerOf(info.Training.Learner).ChoosesKernels() {
			flag(f.Name, word)
		}
	}
	if info.Tested != nil && info.Tested.Flags != "" {
		text += " " + info.Tested.Flags
	}
	return text + " -o MODEL"
}
