package model

import (
	"fmt"
	"unicode/utf8"

	"mercer/internal/engine/option"
)

// checkNames returns an error unless the classes and labels are text that a file keeps apart: UTF-8, each once.
func (i *Info) checkNames() error {
	for _, names := range [][]string{i.Classes, i.Labels} {
		seen := make(map[string]bool, len(names))
		for _, name := range names {
			switch {
			case !utf8.ValidString(name):
				return option.Errorf("the label %q is not UTF-8, which model files are written in; name the encoding of the data (%s) "+
					"or convert them", name, option.Set("encoding", "windows-1252"))
			case seen[name]:
				return fmt.Errorf("the label %q is there twice; each class has a label of its own", name)
			}
			seen[name] = true
		}
	}
	return nil
}
