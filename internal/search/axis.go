package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/train"
)

// Axis is one setting of a train.Config and the values to try.
type Axis struct {
	// Name is the setting's JSON name, such as gamma or learner.
	Name string

	// Values are texts that the setting accepts. "auto" of lambda and c leaves the choice to the
	// learner; a lambda of "trace*1e-3" is 10⁻³·tr(H)/D (lambda_by trace), a gamma of "median*4"
	// four times the γ of the median distance.
	Values []string

	// Low and High, if High is not 0, are the ends of a range. A random search draws from the range,
	// in logarithms if Log is set, instead of from Values, which are points of it. Prefix, such
	// as "median*", comes before the number.
	Low, High float64
	Log       bool
	Prefix    string

	learners []string // nil: all that have the setting
}

// ParseAxis reads the values of a setting: a list with commas, or LOW:HIGH:POINTS after "log:" or "lin:",
// optionally preceded by "median*", "scale*" or "trace*".
func ParseAxis(name, text string) (Axis, error) {
	a := Axis{Name: strings.ReplaceAll(name, "-", "_")}
	s, err := settingOf(name)
	if err != nil {
		return a, err
	}
	kind := s.Type.Kind()
	text = strings.TrimSpace(text)
	at := max(strings.Index(text, "log:"), strings.Index(text, "lin:"))
	if at < 0 || kind == reflect.String && a.Name != "gamma" {
		for v := range strings.SplitSeq(text, ",") {
			if v = strings.TrimSpace(v); v == "" {
				return a, fmt.Errorf("%s: %q has an empty value", name, text)
			} else if slices.Contains(a.Values, v) {
				return a, fmt.Errorf("%s: the value %s is there twice", name, v)
			}
			a.Values = append(a.Values, v)
		}
	} else if err := a.parseRange(text[:at], text[at:], kind); err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	for _, v := range a.Values {
		if err := set(new(train.Config), a.Name, v); err != nil {
			return a, err
		}
	}
	return a, nil
}

// parseRange reads "log:LOW:HIGH:POINTS".
func (a *Axis) parseRange(prefix, text string, kind reflect.Kind) error {
	wrong := fmt.Errorf("%q is not a range such as log:0.01:100:5, from, to and how many points", prefix+text)
	parts := strings.Split(text, ":")
	if prefix != "" && prefix != "median*" && prefix != "scale*" && prefix != "trace*" || len(parts) != 4 {
		return wrong
	}
	a.Prefix, a.Log = prefix, parts[0] == "log"
	low, err1 := strconv.ParseFloat(parts[1], 64)
	high, err2 := strconv.ParseFloat(parts[2], 64)
	points, err3 := strconv.Atoi(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0) ||
		points < 2 || points > 1000 || a.Log && low <= 0 {
		return wrong
	}
	a.Low, a.High = low, high
	for i := range points {
		v := a.value(a.at(float64(i)/float64(points-1)), kind)
		if !slices.Contains(a.Values, v) { // rounding may give a whole number twice
			a.Values = append(a.Values, v)
		}
	}
	return nil
}

// at is the number at a position in [0, 1] of the range.
func (a *Axis) at(u float64) float64 {
	switch {
	case u == 0:
		return a.Low
	case u == 1:
		return a.High
	case a.Log:
		return a.Low * math.Pow(a.High/a.Low, u)
	}
	return a.Low + u*(a.High-a.Low)
}

// value formats a number to four digits, which is more precision than a choice needs.
func (a *Axis) value(v float64, kind reflect.Kind) string {
	if kind == reflect.Int {
		return strconv.Itoa(int(math.Round(v)))
	}
	return a.Prefix + strconv.FormatFloat(v, 'g', 4, 64)
}

// draw draws a value.
func (a *Axis) draw(s *random.Stream) string {
	if a.High != 0 {
		of, _ := settingOf(a.Name)
		return a.value(a.at(s.Uniform()), of.Type.Kind())
	}
	return a.Values[s.Intn(len(a.Values))]
}

// Settings lists what a search can set, in the order of train.Settings.
func Settings() (names []string) {
	for _, s := range train.Settings() {
		if searchable(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// searchable says whether a search can set a setting.
func searchable(s train.Setting) bool {
	k := s.Type.Kind()
	return s.Searched && (k == reflect.String || k == reflect.Int || k == reflect.Float64 || k == reflect.Bool || k == reflect.Uint64)
}

// settingOf finds a setting that a search can set.
func settingOf(name string) (train.Setting, error) {
	for _, s := range train.Settings() {
		if s.Name == strings.ReplaceAll(name, "-", "_") && searchable(s) {
			return s, nil
		}
	}
	return train.Setting{}, fmt.Errorf("%s is not a setting that a search knows; known are %s", name, strings.Join(Settings(), ", "))
}

// set sets a setting of a configuration.
func set(c *train.Config, name, value string) error {
	s, err := settingOf(name)
	if err != nil {
		return err
	}
	number := value
	switch name {
	case "lambda":
		by := ""
		if times, ok := strings.CutPrefix(value, "trace*"); ok {
			number, by = times, "trace"
		} else if n, err := strconv.ParseFloat(value, 64); err == nil && n == 0 {
			by = "given"
		}
		c.Set("lambda_by", by)
		fallthrough
	case "c":
		if value == "auto" {
			number = "0"
		}
	}
	var v any
	kind, wanted := s.Type.Kind(), "a number"
	switch kind {
	case reflect.String:
		v = value
	case reflect.Bool:
		wanted = "true or false"
		v, err = strconv.ParseBool(value)
	case reflect.Uint64:
		wanted = "a whole number"
		v, err = strconv.ParseUint(number, 10, 64)
	default:
		var n float64
		n, err = strconv.ParseFloat(number, 64)
		if v = n; kind == reflect.Int { // 1e3 is a whole number too
			wanted, v = "a whole number", int(n)
		}
		if n-n != 0 || kind == reflect.Int && (n != math.Trunc(n) || math.Abs(n) > 1e15) {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %q is not %s", name, value, wanted)
	}
	c.Set(name, v)
	if s.Given != "" {
		c.Set(s.Given, v == 0.0) // otherwise 0 would mean the default
	}
	return nil
}

// Space is what is searched: the values of some settings, with all others as in Base.
type Space struct {
	Base train.Config
	Axes []Axis
}

// Precomputed says that rows are values of a kernel of one's own.
func (s *Space) Precomputed() bool {
	return s.Base.Precomputed() || slices.ContainsFunc(s.Axes, func(a Axis) bool {
		return (a.Name == "kernel" || a.Name == "map") && slices.Contains(a.Values, feature.Precomputed)
	})
}

// axisNamed is the place of an axis, -1 if there is none of this name.
func axisNamed(axes []Axis, name string) int {
	return slices.IndexFunc(axes, func(a Axis) bool { return a.Name == name })
}

// ReadAxes reads axes from JSON: an object of settings, each a list of values or a text in the syntax
// of ParseAxis:
//
//	{"gamma": "median*log:0.1:10:5", "features": [1024, 4096], "learner": ["ridge", "svm"]}
func ReadAxes(text []byte) ([]Axis, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("a space is an object of settings, such as {\"gamma\": [\"median\", \"median*4\"], \"features\": [1024, 4096]}")
	}
	var axes []Axis
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		var texts []string
		for _, v := range list {
			switch v.(type) {
			case string, json.Number, bool:
				texts = append(texts, fmt.Sprint(v))
			default:
				return nil, fmt.Errorf("%v: the value %v is neither text nor number", key, v)
			}
		}
		a, err := ParseAxis(key.(string), strings.Join(texts, ","))
		if err != nil {
			return nil, err
		}
		if axisNamed(axes, a.Name) >= 0 {
			return nil, fmt.Errorf("%s is there twice", a.Name)
		}
		axes = append(axes, a)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return axes, nil
}
