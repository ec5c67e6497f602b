package cli

import (
	"context"
	"encoding/json"
	"strings"

	"mercer/internal/app/render"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// kernelOf reads a kernel that a flag has: its name, or JSON with parameters. Those that are left out are the usual ones, but γ, which is
// then 0.
func kernelOf(flag, text string) (k kernel.Kernel, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		kind, err := kernel.Find(strings.ToLower(text))
		if err != nil {
			return k, usagef("%s: %w", flag, err)
		}
		return kind.Usual(), nil
	}
	var name struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &name); err != nil {
		return k, usagef("%s: this is no kernel in JSON, such as {\"name\":\"poly\",\"degree\":2}: %w", flag, err)
	}
	kind, err := kernel.Find(name.Name)
	if err != nil {
		return k, usagef("%s: %w", flag, err)
	}
	k = kind.Usual()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&k); err != nil {
		return k, usagef("%s: this is no kernel in JSON, such as {\"name\":\"poly\",\"degree\":2}: %w", flag, err)
	}
	return k, nil
}

// checkConvert finds what is wrong with --convert before any data are read.
func (a *approximation) checkConvert(candidates []approx.Candidate) error {
	if a.convert == "" {
		return nil
	}
	to, err := kernelOf("--convert", a.convert)
	if err != nil {
		return err
	}
	a.convertTo = to
	if to.Gamma == 0 {
		to.Gamma = 1
	}
	for _, c := range candidates {
		if c.Config.Steps != nil {
			return usagef("--convert: estimates of %s cannot be converted; those of single maps can", c.Name())
		}
	}
	if _, err := approx.NewConversion(a.kernel, to); err != nil {
		return usagef("--convert %s: %w", a.convert, err)
	}
	return nil
}

// converted measures estimates of the other kernel. Its γ follows from the rows, unless it is given.
func (a *approximation) converted(ctx context.Context, rows approx.Rows, candidates []approx.Candidate) (*render.Converted, error) {
	if a.convertTo.Gamma == 0 {
		pipe := a.pipe
		pipe.Kernel, pipe.Gamma, pipe.Sigma = a.convertTo, "median", 0
		var err error
		if a.convertTo.Gamma, _, err = pipe.GammaOf(rows.Fit); err != nil {
			return nil, err
		}
	}
	list, err := approx.Convert(ctx, rows, candidates, a.convertTo, a.opt)
	if err != nil {
		return nil, err
	}
	return &render.Converted{Kernel: a.convertTo, List: list}, nil
}
