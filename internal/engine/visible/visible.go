// Package visible writes text that others have chosen, such as labels, names of columns and paths, so that it cannot
// move the cursor of a terminal, colour it, turn its reading direction or pass for a line of its own.
package visible

import (
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Hidden says whether a character does something other than stand there: a control character, an end of line or paragraph, or one
// that turns the direction of reading.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' ||
		r == '\u200e' || r == '\u200f' || r == '\u061c' || r == '\ufeff'
}

// Text is a text on one line: hidden characters as in JSON, and bytes that are no UTF-8 in hexadecimal.
func Text(s string) string {
	for i, r := range s {
		if Hidden(r) || r == utf8.RuneError {
			return string(appendVisible([]byte(s[:i]), []byte(s[i:]), false))
		}
	}
	return s
}

// appendVisible appends text, with its lines and columns if they are to stay.
func appendVisible(dst, text []byte, keepLines bool) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\x%02x`, text[0])
		case keepLines && (r == '\n' || r == '\t'), !Hidden(r):
			dst = append(dst, text[:n]...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		text = text[n:]
	}
	return dst
}

// Writer makes what is written visible, but for ends of lines and tabs. JSON stays JSON: only its strings have other hidden characters.
type Writer struct {
	W io.Writer

	mu      sync.Mutex
	part    []byte // the beginning of a character that the next write goes on with
	rewrite []byte
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) == 0 && plain(p) {
		return w.W.Write(p)
	}
	text := append(w.part, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if utf8.RuneStart(text[len(text)-back]) {
			if !utf8.FullRune(text[len(text)-back:]) {
				whole -= back
			}
			break
		}
	}
	w.rewrite = appendVisible(w.rewrite[:0], text[:whole], true)
	w.part = append([]byte(nil), text[whole:]...)
	if _, err := w.W.Write(w.rewrite); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what may have been the beginning of a character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := appendVisible(nil, w.part, true)
	if w.part = nil; len(text) == 0 {
		return nil
	}
	_, err := w.W.Write(text)
	return err
}

// plain says whether a text is of ASCII and needs no change.
func plain(p []byte) bool {
	for _, b := range p {
		if b >= 0x7f || b < ' ' && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}
