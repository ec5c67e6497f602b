package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/units"
	"mercer/internal/search"
	"mercer/train"
)

// configurations compares configurations by their folds.
func (c *compare) configurations(cmd *cobra.Command, path string, files []string, p *Progress) error {
	if !c.files && len(files) > 0 {
		return usagef("%s is a model beside configurations; compare models, or configurations (files of them with --configs)", files[0])
	}
	var configs []eval.NamedConfig
	var names []string
	for i, name := range fileNames(files) {
		cfg, err := readConfig(files[i])
		if err != nil {
			return err
		}
		configs, names = append(configs, eval.NamedConfig{Name: name, Config: cfg}), append(names, name)
	}
	for _, text := range c.flags {
		cfg, err := parseConfig(cmd.Context(), text, c.data)
		if err != nil {
			return err
		}
		name := strings.Join(strings.Fields(text), " ")
		if name == "" {
			name = "defaults"
		}
		configs, names = append(configs, eval.NamedConfig{Name: name, Config: cfg}), append(names, name)
	}
	if len(configs) < 2 {
		return usagef("%s to compare; give two or more", units.Plural(len(configs), "configuration"))
	}
	if err := c.setControl(names); err != nil {
		return err
	}
	f, err := dataset.Open(cmd.Context(), path, c.data)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.opt.Memory = int64(c.memory); c.opt.Memory == 0 {
		c.opt.Memory = availableMemory() / 5 * 4
	}
	forecast := c.announce(cmd.Context(), p, f, configs)
	result, err := eval.CompareConfigs(cmd.Context(), configs, f, c.opt)
	p.Done()
	if err != nil {
		return err
	}
	page, err := render.ConfigsPage(result, filepath.Base(dataset.ShownPath(path)))
	if err != nil {
		return err
	}
	if c.json {
		if err := c.pages.Write(cmd, page, true); err != nil {
			return err
		}
		return render.JSON(cmd.OutOrStdout(), render.ConfigsJSON{ConfigComparison: result, Forecast: forecast})
	}
	if err := render.ConfigsText(cmd.OutOrStdout(), result, filepath.Base(dataset.ShownPath(path))); err != nil {
		return err
	}
	return c.pages.Write(cmd, page, false)
}

// announce tells what a comparison takes that is long: each configuration is trained once a fold. It is nil
// of what is short, or cannot be predicted.
func (c *compare) announce(ctx context.Context, p *Progress, src dataset.Source, configs []eval.NamedConfig) *search.Forecast {
	if !p.tells() {
		return nil
	}
	s, err := search.DrawFirst(ctx, src, estimateRows, configs[0].Config.Task, 1)
	if err != nil {
		return nil
	}
	folds := c.opt.Folds * c.opt.Repeats
	all, long := &search.Forecast{Configurations: len(configs), Trainings: len(configs) * folds}, false
	for _, v := range configs {
		short, err := search.Short(ctx, s, v.Config, c.opt.Memory, longWork/float64(all.Trainings))
		if err != nil || v.Config.Traits().Online() || v.Config.Map.Given != nil {
			return nil
		}
		long = long || !short
	}
	if !long {
		return nil
	}
	trained := s.Rows() - s.Rows()/c.opt.Folds
	held := 4 * int64(s.Rows()*c.opt.Repeats*(len(configs)+1)) // what each row came to, and the maps of a fold's models
	for _, v := range configs {
		cost, err := search.Predict(ctx, s, v.Config, search.PredictOptions{Memory: c.opt.Memory, Seconds: 0.5})
		if err != nil {
			return nil
		}
		all.Seconds += float64(folds) * cost.Seconds
		plan, err := s.Plan(ctx, v.Config, trained, c.opt.Memory)
		if err != nil {
			return nil
		}
		all.Bytes = max(all.Bytes, held+plan.Bytes)
		held += plan.MapBytes
	}
	if all.Seconds < longWork {
		return nil
	}
	p.note(all.Text("configurations"))
	return all
}

// readConfig reads a configuration in JSON.
func readConfig(path string) (c train.Config, err error) {
	text, err := ReadSmall(path, nil)
	if err != nil {
		return c, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf(`%s: not a configuration in JSON, such as {"kernel":"rbf","features":1024}: %s`, path,
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: more than one configuration; give each a file", path)
	}
	if err := checkConfig(&c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parseConfig reads a configuration from flags of train.
func parseConfig(ctx context.Context, text string, data dataset.Options) (c train.Config, err error) {
	cmd := &cobra.Command{Use: "config"}
	configFlags(cmd, &c)
	if err := cmd.ParseFlags(strings.Fields(text)); err != nil {
		return c, usagef("--config %q: %w; it takes the flags of mercer train that say how to train", text, err)
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		return c, usagef("--config %q: %q is no flag", text, rest[0])
	}
	unname(cmd, &c, false)
	if err := settle(cmd, &c); err != nil {
		return c, usagef("--config %q: %w", text, err)
	}
	if err := readLandmarks(ctx, &c, data); err != nil {
		return c, err
	}
	if err := checkConfig(&c); err != nil {
		return c, usagef("--config %q: %w", text, err)
	}
	return c, nil
}

func checkConfig(c *train.Config) error {
	switch {
	case c.Bag != nil:
		return errors.New("is for bags; configurations of rows can be compared")
	case train.As[train.SGD](c.Learner).SurveyRows > 0:
		return errors.New("survey_rows reads the data once, but a comparison reads them for every fold")
	}
	return c.Check()
}
