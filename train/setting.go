package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"mercer/internal/engine/option"
)

// Setting is one value of a Config, by its name in JSON, where all settings stand in one object.
type Setting struct {
	Name string
	Type reflect.Type

	// Help is that of an option of learners, nil for other settings.
	Help *option.Phrase

	// Range is "positive" for a number that is not below zero, "share" for one above 0 and up to 1; "" if there is another check.
	Range string

	// Searched says that a search can try values of it; others do not affect how good a model is, or other settings set them.
	Searched bool

	// Given is the setting that says that 0 is given, where it would mean the default; "" if there is none.
	Given string

	index  []int  // the field of Config, or of the options of a learner
	option bool   // of learners
	usual  string // a word that says as little as ""
}

// Settings are all settings, in the order of their JSON.
func Settings() []Setting {
	settingList.once.Do(func() {
		all := settingsOf(reflect.TypeFor[Config](), nil)
		help := maps.Clone(predictionHelp)
		for _, l := range learners() {
			maps.Copy(help, l.help)
			for _, s := range optionsIn(reflect.TypeOf(l.options)) {
				if s.option = true; !slices.ContainsFunc(all, func(t Setting) bool { return t.Name == s.Name }) {
					all = append(all, s)
				}
			}
		}
		for i := range all {
			all[i].Help = help[all[i].Name]
			if name := all[i].Name + given; slices.ContainsFunc(all, func(s Setting) bool { return s.Name == name }) {
				all[i].Given = name
			}
		}
		place := func(s Setting) int {
			if i := slices.Index(writtenFirst, s.Name); i >= 0 {
				return i
			}
			return len(writtenFirst)
		}
		slices.SortStableFunc(all, func(a, b Setting) int { return place(a) - place(b) })
		settingList.all = all
	})
	return settingList.all
}

var settingList struct {
	once sync.Once
	all  []Setting
}

// writtenFirst are settings in the order in which files of models have them; others follow.
var writtenFirst = strings.Fields(`task bag scale metric metric_rounds metric_rank metric_rows metric_landmarks
	kernel gamma degree coef0 nu homogeneity sigma map form radius order hash entries sparsity pool t reuse complex series rank terms
	window period stretch landmarks width widths steps weights group_kernels group_weights features components variance_share map_components whiten reduce
	shrinkage shrinkage_given priors learner lambda lambda_by path variance conformal l1_ratio c loss multiclass penalty solver outliers
	svm_nu class_weight optimizer rate epochs average_from quantile huber epsilon epsilon_given survey_rows calibrate calibrate_folds
	threshold tolerance max_iter product accuracy lookup lookup_form subsample quick leaf members target_means seed`)

// optionsIn are the options of a type of learner.
func optionsIn(of reflect.Type) []Setting {
	if all, ok := optionLists.Load(of); ok {
		return all.([]Setting)
	}
	all := settingsOf(of, nil)
	optionLists.Store(of, all)
	return all
}

var optionLists sync.Map // by type

// settingsOf are the settings of the fields of a struct. A struct without a name of its own is a group of them.
func settingsOf(of reflect.Type, index []int) (all []Setting) {
	for i := range of.NumField() {
		f := of.Field(i)
		at := append(index[:len(index):len(index)], i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[Learner]():
			all = append(all, Setting{Name: "learner", Type: reflect.TypeFor[string](), Searched: true})
		case name == "" && f.Type.Kind() == reflect.Struct:
			all = append(all, settingsOf(f.Type, at)...)
		case name != "" && name != "-":
			all = append(all, Setting{Name: name, Type: f.Type, index: at, Range: f.Tag.Get("range"),
				Searched: f.Tag.Get("search") != "no", usual: f.Tag.Get("usual")})
		}
	}
	return all
}

// settingOf finds a setting, nil if there is none.
func settingOf(name string) *Setting {
	all := Settings()
	if i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Get is the value of a setting, one of Settings; zero if it is not given.
func (c Config) Get(name string) any {
	s := settingOf(name)
	switch {
	case name == "learner":
		return c.LearnerName()
	case !s.option:
		return reflect.ValueOf(c).FieldByIndex(s.index).Interface()
	}
	if v, err := s.value(optionsOf(c.Learner)[name]); err == nil {
		return v.Interface()
	}
	return reflect.Zero(s.Type).Interface()
}

// Set sets a setting, one of Settings, to a value of its type or another number. An option that the learner does not have is an error when
// a training begins.
func (c *Config) Set(name string, value any) {
	s := settingOf(name)
	v, err := s.value(value)
	switch {
	case err != nil:
		panic(err)
	case name == "learner":
		c.SetLearner(v.String())
	case !s.option:
		reflect.ValueOf(c).Elem().FieldByIndex(s.index).Set(v)
	default:
		n := Named{c.LearnerName(), optionsOf(c.Learner)}
		if n.Options == nil {
			n.Options = map[string]any{}
		}
		if n.Options[name] = v.Interface(); v.IsZero() {
			delete(n.Options, name)
		}
		c.Learner = fitting(n)
	}
}

// MarshalJSON writes the settings that are not zero as one object.
func (c Config) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	options := optionsOf(c.Learner)
	for _, s := range Settings() {
		v := reflect.ValueOf(options[s.Name])
		if !s.option {
			v = reflect.ValueOf(c.Get(s.Name))
		}
		if !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
			continue
		}
		value, err := json.Marshal(v.Interface())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(fmt.Appendf(text, "%q:", s.Name), value...)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON sets the settings of an object, all of which it has to know.
func (c *Config) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := settingOf(name)
		if s == nil {
			return fmt.Errorf("json: unknown field %q", name)
		}
		v := reflect.New(s.Type)
		d := json.NewDecoder(bytes.NewReader(all[name]))
		d.DisallowUnknownFields()
		if err := d.Decode(v.Interface()); err != nil {
			if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
				kind.Struct, kind.Field = "Config", strings.TrimSuffix(name+"."+kind.Field, ".")
			}
			return err
		}
		c.Set(name, v.Elem().Interface())
	}
	return nil
}
