package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"mercer/feature"
)

// mapValue is the flag --map: a name, or a configuration of steps in JSON.
type mapValue struct {
	name    *string
	steps   *[]feature.Config
	weights *[]float64
	text    string
}

var _ pflag.Value = (*mapValue)(nil)

func (m *mapValue) String() string {
	if m.name == nil {
		return ""
	}
	return *m.name
}

func (m *mapValue) Type() string { return "map" }

func (m *mapValue) file() string { return fileBehind(m.text) }

// fileBehind is the file of a value @FILE, "" if it is another.
func fileBehind(value string) string {
	if path, is := strings.CutPrefix(value, "@"); is {
		return path
	}
	return ""
}

func (m *mapValue) Set(s string) error {
	m.text = s
	text := []byte(strings.TrimSpace(s))
	if name, ok := strings.CutPrefix(s, "@"); ok {
		var err error
		if text, err = ReadSmall(name, nil); err != nil {
			return err
		}
	} else if !bytes.HasPrefix(text, []byte("{")) {
		*m.name = s
		return nil
	}
	var cfg feature.Config
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&cfg); err != nil {
		return fmt.Errorf("not a map in JSON, such as "+
			`{"map":"chain","steps":[{"map":"countsketch","features":512},{"map":"rff","features":2048}]}: %w`, err)
	}
	if d.More() {
		return errors.New("more than one map in JSON")
	}
	*m.name, *m.steps, *m.weights = cfg.Map, cfg.Steps, cfg.Weights
	if cfg.Steps == nil {
		return errors.New("the map in JSON has no steps; name a single map by --map NAME and its options by flags")
	}
	return nil
}
