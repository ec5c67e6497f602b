package serve

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// mostDepth bounds how deep values of a request are nested.
const mostDepth = 32

// parser reads one JSON text without reflection. Numbers of tensors and records go straight to where they are wanted.
// Its errors name the byte, from 0.
type parser struct {
	data  []byte
	at    int
	depth int
	text  []byte // of a string with escapes
}

// syntaxError says where a text is no JSON, or not what was expected.
type syntaxError struct {
	at   int
	what string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("byte %d of the JSON: %s", e.at, e.what) }

func (p *parser) errorf(format string, args ...any) error {
	return &syntaxError{p.at, fmt.Sprintf(format, args...)}
}

// next skips white space and returns the byte there, 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.data) {
		switch c := p.data[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return c
		}
	}
	return 0
}

// found describes what is at the parser's place.
func (p *parser) found() string {
	if p.at >= len(p.data) {
		return "the end"
	}
	r, _ := utf8.DecodeRune(p.data[p.at:])
	return strconv.QuoteRune(r)
}

func (p *parser) expect(c byte) error {
	if p.next() != c {
		return p.errorf("expected %q, found %s", c, p.found())
	}
	p.at++
	return nil
}

// end fails if anything but white space is left.
func (p *parser) end() error {
	if p.next(); p.at < len(p.data) {
		return p.errorf("expected the end, found %s", p.found())
	}
	return nil
}

// object calls field with each key, which must read the value. The key is valid until the next string is read.
func (p *parser) object(field func(key []byte) error) error {
	return p.list('{', '}', func() error {
		key, err := p.string()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		return field(key)
	})
}

// array calls element for each element, which must read it.
func (p *parser) array(element func() error) error { return p.list('[', ']', element) }

func (p *parser) list(open, end byte, element func() error) error {
	if err := p.expect(open); err != nil {
		return err
	}
	if p.depth++; p.depth > mostDepth {
		return p.errorf("values are nested more than %d deep", mostDepth)
	}
	defer func() { p.depth-- }()
	if p.next() == end {
		p.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case end:
			p.at++
			return nil
		default:
			return p.errorf("expected %q or %q, found %s", ',', end, p.found())
		}
	}
}

// string reads a string. The result is valid until the next one.
func (p *parser) string() ([]byte, error) {
	if p.next() != '"' {
		return nil, p.errorf("expected a string, found %s", p.found())
	}
	p.at++
	first := p.at
	for ; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			text := p.data[first:p.at]
			if !utf8.Valid(text) {
				p.at = first
				return nil, p.errorf("the string is not UTF-8")
			}
			p.at++
			return text, nil
		case c == '\\':
			return p.escaped(first)
		case c < ' ':
			return nil, p.errorf("a control character in a string")
		}
	}
	return nil, p.errorf("the string has no end")
}

// escaped is string from the first escape on.
func (p *parser) escaped(first int) ([]byte, error) {
	p.text = append(p.text[:0], p.data[first:p.at]...)
	for p.at < len(p.data) {
		c := p.data[p.at]
		switch {
		case c == '"':
			p.at++
			if !utf8.Valid(p.text) {
				return nil, p.errorf("the string is not UTF-8")
			}
			return p.text, nil
		case c < ' ':
			return nil, p.errorf("a control character in a string")
		case c != '\\':
			p.text = append(p.text, c)
			p.at++
			continue
		}
		if p.at+1 >= len(p.data) {
			break
		}
		p.at += 2
		switch c := p.data[p.at-1]; c {
		case '"', '\\', '/':
			p.text = append(p.text, c)
		case 'b':
			p.text = append(p.text, '\b')
		case 'f':
			p.text = append(p.text, '\f')
		case 'n':
			p.text = append(p.text, '\n')
		case 'r':
			p.text = append(p.text, '\r')
		case 't':
			p.text = append(p.text, '\t')
		case 'u':
			r, err := p.hex()
			if err != nil {
				return nil, err
			}
			if utf16.IsSurrogate(r) {
				if r, err = p.pair(r); err != nil {
					return nil, err
				}
			}
			p.text = utf8.AppendRune(p.text, r)
		default:
			p.at--
			return nil, p.errorf("%q is no escape", c)
		}
	}
	return nil, p.errorf("the string has no end")
}

// pair is the character of a surrogate and the escape behind it. A surrogate that is not half of a pair becomes U+FFFD,
// and what is behind it is read by itself.
func (p *parser) pair(first rune) (rune, error) {
	if p.at+1 >= len(p.data) || p.data[p.at] != '\\' || p.data[p.at+1] != 'u' {
		return utf8.RuneError, nil
	}
	behind := p.at
	p.at += 2
	second, err := p.hex()
	if err != nil {
		return 0, err
	}
	r := utf16.DecodeRune(first, second)
	if r == utf8.RuneError {
		p.at = behind
	}
	return r, nil
}

// hex reads the four digits of a \u escape.
func (p *parser) hex() (rune, error) {
	if p.at+4 > len(p.data) {
		return 0, p.errorf("the string has no end")
	}
	n, err := strconv.ParseUint(string(p.data[p.at:p.at+4]), 16, 32)
	if err != nil {
		return 0, p.errorf(`expected four hexadecimal digits after \u`)
	}
	p.at += 4
	return rune(n), nil
}

// number reads a number.
func (p *parser) number() (float64, error) {
	c := p.next()
	if c != '-' && (c < '0' || c > '9') {
		if word := p.word(); word == "NaN" || word == "Infinity" {
			return 0, p.errorf("JSON has no %s; a missing value is null", word)
		}
		return 0, p.errorf("expected a number, found %s", p.found())
	}
	first := p.at
	var mantissa uint64 // of all digits, as long as there are few
	digits := func() int {
		from, m := p.at, mantissa
		for p.at < len(p.data) {
			d := p.data[p.at] - '0'
			if d > 9 {
				break
			}
			m = 10*m + uint64(d)
			p.at++
		}
		mantissa = m
		return p.at - from
	}
	if c == '-' {
		p.at++
	}
	leading := p.at
	whole := digits()
	fine, fraction, plain := whole == 1 || whole > 1 && p.data[leading] != '0', 0, true
	if p.at < len(p.data) && p.data[p.at] == '.' {
		p.at++
		fraction = digits()
		fine = fraction > 0 && fine
	}
	if p.at < len(p.data) && p.data[p.at]|0x20 == 'e' {
		plain = false
		if p.at++; p.at < len(p.data) && (p.data[p.at] == '+' || p.data[p.at] == '-') {
			p.at++
		}
		fine = digits() > 0 && fine
	}
	if !fine {
		if p.at = leading; p.word() == "Infinity" {
			return 0, p.errorf("JSON has no Infinity")
		}
		p.at = first
		return 0, p.errorf("not a number as JSON writes it")
	}
	if plain && whole+fraction <= 15 { // whole numbers below 2⁵³, whose quotient is rounded once
		v := float64(mantissa) / tens[fraction]
		if c == '-' {
			v = -v
		}
		return v, nil
	}
	text := p.data[first:p.at]
	v, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
	if err != nil && !(errors.Is(err, strconv.ErrRange) && math.Abs(v) < 1) {
		p.at = first
		return 0, p.errorf("%s is beyond float64", shortened(text))
	}
	return v, nil
}

// tens are the powers of ten.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// word is the letters at the parser's place.
func (p *parser) word() string {
	i := p.at
	for i < len(p.data) && i < p.at+10 && (p.data[i]|0x20 >= 'a' && p.data[i]|0x20 <= 'z') {
		i++
	}
	return string(p.data[p.at:i])
}

// scalar reads a number, string, boolean or null, as a float64, string, bool or nil.
func (p *parser) scalar() (any, error) {
	switch c := p.next(); c {
	case '"':
		text, err := p.string()
		return string(text), err
	case 't', 'f', 'n':
		word := p.word()
		p.at += len(word)
		switch word {
		case "true":
			return true, nil
		case "false":
			return false, nil
		case "null":
			return nil, nil
		}
		p.at -= len(word)
		return nil, p.errorf("expected a value, found %s", p.found())
	case '{', '[':
		return nil, p.errorf("expected a number, text, boolean or null, found %s", p.found())
	}
	return p.number()
}

// boolean reads true or false.
func (p *parser) boolean() (bool, error) {
	v, err := p.scalar()
	b, ok := v.(bool)
	if err == nil && !ok {
		err = p.errorf("expected true or false")
	}
	return b, err
}

// skip reads any value.
func (p *parser) skip() error {
	switch p.next() {
	case '{':
		return p.object(func([]byte) error { return p.skip() })
	case '[':
		return p.array(p.skip)
	}
	_, err := p.scalar()
	return err
}

// shortened is a text for an error message.
func shortened(text []byte) string {
	const most = 40
	if len(text) <= most {
		return string(text)
	}
	return string(text[:most]) + "…"
}

// appendText appends a JSON string.
func appendText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ' || r == 0x7f || r == '<' || r == 0x2028 || r == 0x2029: // and what a page must not take for its own
			dst = append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendNumber appends a finite number, null otherwise.
func appendNumber(dst []byte, v float64, bits int) []byte {
	if v-v != 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}
