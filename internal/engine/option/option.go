// Package option lets errors name options so that each reader finds them by the name that he knows: a
// Go program by the field's name in JSON, a person at the command line by the flag.
//
//	option.Errorf("%q is not a number; %s fills it in", cell, option.Set("missing", "mean"))
//
// has the text «"x" is not a number; missing=mean fills it in», of which Text makes, for the command
// line, «"x" is not a number; --missing mean fills it in».
package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reference is the name of an option in a message, or a setting of it; print it by %s.
type Reference struct {
	name, value string
}

// Ref names an option by its name in JSON.
func Ref(name string) Reference { return Reference{name: name} }

// Set names an option with a value to give it. It is not for values that are empty.
func Set(name, value string) Reference { return Reference{name, value} }

// String is the reference as a Go program reads it: name, or name=value.
func (r Reference) String() string { return field(r.name, r.value) }

// field names an option as a Go program does.
func field(option, value string) string {
	if value == "" {
		return option
	}
	return option + "=" + value
}

// Errorf is fmt.Errorf for a message some of whose arguments are References or Phrases.
func Errorf(format string, args ...any) error {
	m := &message{plain: fmt.Errorf(format, args...), format: format, args: slices.Clone(args)}
	for i, a := range m.args {
		if b, ok := a.([]byte); ok {
			m.args[i] = slices.Clone(b) // readers use their memory again
		}
	}
	return m
}

// Phrase is a part of a message, such as a piece of advice, that names options; print it by %s.
type Phrase struct {
	format string
	args   []any
}

// Phrasef is fmt.Sprintf for a phrase some of whose arguments are References or Phrases.
func Phrasef(format string, args ...any) *Phrase { return &Phrase{format, args} }

// String is the phrase as a Go program reads it.
func (p *Phrase) String() string { return fmt.Sprintf(p.format, p.args...) }

func (p *Phrase) named(name func(option, value string) string) string {
	return fmt.Sprintf(p.format, namedArgs(p.args, name)...)
}

// Renamed is an error about an option whose value came from another, which it names in its place.
func Renamed(err error, option, by string) error { return &renamed{err, option, by} }

// Text is an error's text with the options that it and the errors in it name called as name says;
// value is "" where an option is named without one.
func Text(err error, name func(option, value string) string) string {
	var out strings.Builder
	rest := err.Error()
	each(err, func(m naming) {
		// An error's text holds the texts of those in it, in their order.
		if before, after, found := strings.Cut(rest, m.Error()); found {
			out.WriteString(before + m.named(name))
			rest = after
		}
	})
	return out.String() + rest
}

// each finds what names options in an error, but for what is in other such errors.
func each(err error, body func(naming)) {
	switch e := err.(type) {
	case naming:
		body(e)
	case interface{ Unwrap() error }:
		if in := e.Unwrap(); in != nil {
			each(in, body)
		}
	case interface{ Unwrap() []error }:
		for _, in := range e.Unwrap() {
			each(in, body)
		}
	}
}

// naming is an error that names options.
type naming interface {
	error

	// named is its text with options called as name says.
	named(name func(option, value string) string) string
}

// message is an error that Errorf made.
type message struct {
	plain  error // with the names of fields
	format string
	args   []any
}

func (m *message) Error() string { return m.plain.Error() }

// Unwrap leads to what the message wraps by %w.
func (m *message) Unwrap() error { return m.plain }

func (m *message) named(name func(option, value string) string) string {
	return fmt.Errorf(m.format, namedArgs(m.args, name)...).Error()
}

// namedArgs are the arguments of a message with options called as name says.
func namedArgs(args []any, name func(option, value string) string) []any {
	named := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Reference:
			named[i] = name(a.name, a.value)
		case *Phrase:
			named[i] = a.named(name)
		case error:
			named[i] = errors.New(Text(a, name))
		default:
			named[i] = a
		}
	}
	return named
}

// renamed is an error in which one option has another name.
type renamed struct {
	err        error
	option, by string
}

func (r *renamed) Error() string { return r.named(field) }
func (r *renamed) Unwrap() error { return r.err }

func (r *renamed) named(name func(option, value string) string) string {
	return Text(r.err, func(option, value string) string {
		if option == r.option {
			option = r.by
		}
		return name(option, value)
	})
}
