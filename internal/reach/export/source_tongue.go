package export

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tongue is a language of source code. What the languages share is written once, as statements with
//
//	$name[index]         an element of an array, as a number to compute with
//	#name[index]         an element of an array of whole numbers
//	@name[index] = value an element of an array of float32
//
// and names of functions (cosOf, expOf and others) that each language has among its helpers.
type tongue struct {
	name    string
	loop    string // over a whole number from one to below another
	let     string // a new number
	whole   string // a new whole number
	end     string // of a statement
	read    string // an element as a number to compute with
	element string // a whole one
	write   string // a number as an element
	slice   string // an array as an argument
	kernel  string // the head of a function of a row and of a row of an array
	method  string // the head of a function of no arguments
	call    string // of one
	buffer  string // an array that is written to, of a kind, a name and a length
	kinds   map[string]string
	most    int // numbers in a file
	text    func(string) string
	helpers []helper
}

// The kinds of arrays.
const (
	kindFloat  = "float"
	kindDouble = "double"
	kindWhole  = "whole"
	kindShort  = "short" // a whole number of two bytes, not negative
	kindSmall  = "small" // a whole number of a byte
	kindCount  = "count" // a whole number as the language likes it
)

var tongues = map[string]*tongue{
	"go": {name: "go", loop: "for %[1]s := %[2]s; %[1]s < %[3]s; %[1]s++ {", let: "%s := %s", whole: "%s := %s", read: "float64(%s[%s])",
		element: "int(%s[%s])", write: "float32(%s)", slice: "%s[:]", kernel: "func %s(x, y []float32, from int) float64 {",
		method: "func (m *Model) %s() {", call: "m.%s()", buffer: "%[2]s [%[3]d]%[1]s\n", most: 1 << 26, text: strconv.Quote, helpers: goHelpers,
		kinds: map[string]string{kindFloat: "float32", kindDouble: "float64", kindWhole: "int32", kindShort: "uint16", kindSmall: "int8", kindCount: "int"}},
	"js": {name: "js", loop: "for (let %[1]s = %[2]s; %[1]s < %[3]s; %[1]s++) {", let: "let %s = %s", whole: "let %s = %s", end: ";", read: "%s[%s]",
		element: "%s[%s]", write: "%s", slice: "%s", kernel: "function %s(x, y, from) {", method: "function %s() {", call: "%s()",
		buffer: "const %[2]s = new %[1]s(%[3]d);\n", most: 1 << 26, text: scriptText, helpers: jsHelpers,
		kinds: map[string]string{kindFloat: "Float32Array", kindDouble: "Float64Array", kindWhole: "Int32Array", kindShort: "Uint16Array", kindSmall: "Int8Array", kindCount: "Int32Array"}},
	"c": {name: "c", loop: "for (int %[1]s = %[2]s; %[1]s < %[3]s; %[1]s++) {", let: "float %s = %s", whole: "int %s = %s", end: ";", read: "%s[%s]",
		element: "%s[%s]", write: "%s", slice: "%s", kernel: "static double %s(const float *x, const float *y, int from) {",
		method: "static void %s(void) {", call: "%s()", buffer: "static %[1]s %[2]s[%[3]d];\n", most: 1 << 22, text: cText, helpers: cHelpers,
		kinds: map[string]string{kindFloat: "float", kindDouble: "double", kindWhole: "int", kindShort: "unsigned short", kindSmall: "signed char", kindCount: "int"}},
}

// scriptText is a string of JavaScript that may also stand in a page.
func scriptText(s string) string {
	text := strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r >= ' ' && r < 0x7f && !strings.ContainsRune("\"\\<>&`$", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String() + `"`
}

// cText is a string of C, without trigraphs and with octal numbers, which end after three digits.
func cText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '?' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return b.String() + `"`
}

// remark is a text within a comment of any of the languages.
func remark(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r < 0x7f && !strings.ContainsRune(`*/\?<>`, r) {
			return r
		}
		return '.'
	}, s)
}

// translate turns a statement into one of the language. In wide ones C computes in double.
func (l *tongue) translate(line string, wide bool) string {
	if strings.HasPrefix(line, "@") {
		end := closing(line, strings.IndexByte(line, '['))
		value, found := strings.CutPrefix(line[end+1:], " = ")
		if !found {
			panic("export: no assignment: " + line)
		}
		return l.translate(line[1:end+1], wide) + " = " + fmt.Sprintf(l.write, l.translate(value, wide))
	}
	read := l.read
	if wide && l.name == "c" {
		read = "(double)%s[%s]"
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != '$' && line[i] != '#' {
			b.WriteByte(line[i])
			continue
		}
		open := i + strings.IndexByte(line[i:], '[')
		end := closing(line, open)
		form := read
		if line[i] == '#' {
			form = l.element
		}
		fmt.Fprintf(&b, form, line[i+1:open], l.translate(line[open+1:end], wide))
		i = end
	}
	return b.String()
}

// closing is where the bracket that opens at from closes.
func closing(line string, from int) int {
	depth := 0
	for i := from; i < len(line); i++ {
		switch line[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	panic("export: an open bracket: " + line)
}

// number is a literal of float64, or in C of float32 where the statement is not wide.
func (l *tongue) number(v float64, wide bool) string {
	bits, end := 64, ""
	if l.name == "c" && !wide {
		bits, end = 32, "f"
	}
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	if text += end; v < 0 {
		return "(" + text + ")"
	}
	return text
}

// array declares an array of constants: as numbers, or, where there are many and the language has to parse them, in base 64.
func (l *tongue) array(name, kind string, values []float64) string {
	of := l.kinds[kind]
	if l.name != "c" && len(values) > 64 {
		text := packed(kind, values)
		if l.name == "go" {
			return fmt.Sprintf("var %s [%d]%s\n\nfunc init() { %sFrom(%s[:], `\n%s`) }\n\n", name, len(values), of, kind, name, text)
		}
		return fmt.Sprintf("const %s = unpacked(%s, `\n%s`);\n", name, of, text)
	}
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(map[bool]string{true: ",\n", false: ", "}[i%16 == 0])
		}
		switch kind {
		case kindWhole, kindShort, kindSmall:
			fmt.Fprint(&b, int(v))
		default:
			b.WriteString(strings.Trim(l.number(v, kind == kindDouble), "()"))
		}
	}
	switch l.name {
	case "go":
		return fmt.Sprintf("var %s = [...]%s{%s}\n", name, of, b.String())
	case "js":
		return fmt.Sprintf("const %s = new %s([%s]);\n", name, of, b.String())
	}
	return fmt.Sprintf("static const %s %s[%d] = {%s};\n", of, name, len(values), b.String())
}

// packed are numbers, little endian, as lines in base 64.
func packed(kind string, values []float64) string {
	var raw []byte
	for _, v := range values {
		switch kind {
		case kindFloat:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case kindDouble:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case kindWhole:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(int32(v)))
		case kindShort:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		default:
			raw = append(raw, byte(int8(v)))
		}
	}
	var b strings.Builder
	for len(raw) > 0 { // 90 bytes have no padding
		n := min(len(raw), 90)
		b.WriteString(base64.StdEncoding.EncodeToString(raw[:n]) + "\n")
		raw = raw[n:]
	}
	return b.String()
}
