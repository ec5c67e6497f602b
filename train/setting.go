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
)

// Setting is one value of a Config, by its name in JSON, where all settings stand in one object.
type Setting struct {
	Name string
	Type reflect.Type

	index []int // the field of Config
}

// Settings are all settings, in the order of their JSON.
func Settings() []Setting { return allSettings() }

var allSettings = sync.OnceValue(func() []Setting { return settingsOf(reflect.TypeFor[Config](), nil) })

// settingsOf are the settings of the fields of a struct. A struct without a name of its own is a group of them.
func settingsOf(of reflect.Type, index []int) (all []Setting) {
	for i := range of.NumField() {
		f := of.Field(i)
		at := append(index[:len(index):len(index)], i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Type.Kind() == reflect.Struct:
			all = append(all, settingsOf(f.Type, at)...)
		case name != "" && name != "-":
			all = append(all, Setting{name, f.Type, at})
		}
	}
	return all
}

// settingOf finds a setting, nil if there is none.
func settingOf(name string) *Setting {
	for i, s := range allSettings() {
		if s.Name == name {
			return &allSettings()[i]
		}
	}
	return nil
}

// Set sets a setting to a value of its type.
func (c *Config) Set(name string, value any) {
	reflect.ValueOf(c).Elem().FieldByIndex(settingOf(name).index).Set(reflect.ValueOf(value))
}

// MarshalJSON writes the settings that are not zero as one object.
func (c Config) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for _, s := range allSettings() {
		v := reflect.ValueOf(c).FieldByIndex(s.index)
		if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
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
