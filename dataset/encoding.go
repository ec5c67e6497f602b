package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"mercer/internal/engine/option"
)

// Text is UTF-8. UTF-16 is converted, as is any encoding that Options.Encoding names; other text is
// checked while it is read, because bytes that are no UTF-8 would not survive in the JSON of a model.

// encodings are the values of Options.Encoding.
const encodings = "auto, utf-8, utf-16, utf-16le, utf-16be, windows-1252 and latin-1"

// encodingOf is the encoding of a text that begins with head, one of those that recoder knows; name is that of its file.
func encodingOf(name string, head []byte, asked string) (string, error) {
	little, big := isWide(head, []byte{0xff, 0xfe}, 2, false), isWide(head, []byte{0xfe, 0xff}, 2, true)
	switch low := strings.ToLower(asked); low {
	case "", "auto", "utf-16", "utf16":
		switch {
		case isWide(head, []byte{0xff, 0xfe, 0, 0}, 4, false):
			return "", errors.New("the text is UTF-32; convert the file: " + conversion(name, "UTF-32LE"))
		case isWide(head, []byte{0, 0, 0xfe, 0xff}, 4, true):
			return "", errors.New("the text is UTF-32; convert the file: " + conversion(name, "UTF-32BE"))
		case big:
			return "utf-16be", nil
		case little || strings.HasPrefix(low, "utf"):
			return "utf-16le", nil
		}
		return "utf-8", nil
	case "utf-8", "utf8":
		return "utf-8", nil
	case "utf-16le", "utf-16be":
		return low, nil
	case "windows-1252", "cp1252":
		return "windows-1252", nil
	case "latin-1", "latin1", "iso-8859-1":
		return "latin-1", nil
	}
	return "", option.Errorf("%s %q is not known; take one of %s", option.Ref("encoding"), asked, encodings)
}

// isWide says whether a text begins with a byte order mark of characters of 2 or 4 bytes, or has none but looks like them: its first
// characters are none of control, and most of them ASCII. Text of single bytes has no bytes of 0.
func isWide(head, mark []byte, size int, big bool) bool {
	if bytes.HasPrefix(head, mark) {
		return true
	}
	n := min(len(head)/size, 128)
	ascii := 0
	for i := range n {
		c := 0
		for k, b := range head[i*size : (i+1)*size] {
			if !big {
				k = size - 1 - k
			}
			c |= int(b) << (8 * (size - 1 - k))
		}
		switch {
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > utf8.MaxRune:
			return false
		case c < utf8.RuneSelf:
			ascii++
		}
	}
	return n >= 4 && 2*ascii > n
}

// asUTF8 is a text as UTF-8.
func asUTF8(in input, asked string) (input, error) {
	encoding, err := encodingOf(in.Name(), in.Head(), asked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	t := &recoded{input: in, encoding: encoding, head: in.Head()}
	if encoding != "utf-8" {
		if t.head, err = headOf(t); err != nil {
			return t, err
		}
	}
	if bytes.IndexByte(t.head, '\r') >= 0 && bytes.IndexByte(t.head, '\n') < 0 {
		t.returns = true
		t.head = bytes.ReplaceAll(t.head, []byte{'\r'}, newline)
	}
	return t, nil
}

// loneReturn is the line that ends in a carriage return without a newline outside quotes, 0 if none does.
func loneReturn(text []byte) int {
	quoted, line := false, 1
	for i, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case b == '\n':
			line++
		case b == '\r' && !quoted && i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r':
			return line
		}
	}
	return 0
}

// headOf is the beginning of a table as text.
func headOf(in input) ([]byte, error) {
	r, _, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}

// severable reports whether bytes '\n' are ends of lines in the encoding of a text.
func severable(name string, head []byte, asked string) (bool, error) {
	encoding, err := encodingOf(name, head, asked)
	return !strings.HasPrefix(encoding, "utf-16"), err
}

// recoded is an input whose bytes are converted to UTF-8, or checked to be that.
type recoded struct {
	input
	encoding string
	head     []byte
	returns  bool // lines end in carriage returns alone, as those of classic Mac OS
}

func (t *recoded) Head() []byte { return t.head }

// place implements placed.
func (t *recoded) place(line int) (string, int) {
	if p, ok := t.input.(placed); ok {
		return p.place(line)
	}
	return t.Name(), line
}

// Open implements input.
func (t *recoded) Open() (io.ReadCloser, func() float64, error) {
	r, share, err := t.input.Open()
	if err != nil {
		return nil, nil, err
	}
	if t.returns && !strings.HasPrefix(t.encoding, "utf-16") {
		r = &ended{r}
	}
	c := recoder{ReadCloser: r, place: t.place, line: 1, nameable: true}
	switch t.encoding {
	case "utf-8":
		return &checked{recoder: c}, share, nil
	case "windows-1252":
		return &translated{recoder: c, convert: fromBytes(&windows1252)}, share, nil
	case "latin-1":
		return &translated{recoder: c, convert: fromBytes(nil)}, share, nil
	}
	wide := &translated{recoder: c, convert: fromUTF16(t.encoding == "utf-16be")}
	if t.returns {
		return &ended{wide}, share, nil
	}
	return wide, share, nil
}

// ended turns carriage returns into newlines.
type ended struct{ io.ReadCloser }

func (e *ended) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	for text := b[:n]; ; {
		at := bytes.IndexByte(text, '\r')
		if at < 0 {
			return n, err
		}
		text[at] = '\n'
		text = text[at+1:]
	}
}

// recoder is what both kinds of readers know of their place.
type recoder struct {
	io.ReadCloser
	place func(line int) (source string, lineThere int)
	line  int
	begun int // characters of the line that were read
	err   error

	nameable bool // an option may name the encoding
}

// pass counts the lines and characters of a text that was read.
func (c *recoder) pass(text []byte) {
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		c.line, c.begun, text = c.line+bytes.Count(text, newline), 0, text[end+1:]
	}
	for _, b := range text {
		if utf8.RuneStart(b) {
			c.begun++
		}
	}
}

// wrong is the error for text that is not of its encoding from the character behind before on, which is not counted yet.
func (c *recoder) wrong(before []byte, err error) error {
	c.pass(before)
	name, line := c.place(c.line)
	return atLine(name, line, err)
}

// notUTF8 is the error for text that is not UTF-8 from a byte on; it shows the word around it.
func (c *recoder) notUTF8(text []byte, at int) error {
	c.pass(text[:at])
	name, line := c.place(c.line)
	todo := option.Phrasef("convert the file: %s", conversion(name, "WINDOWS-1252"))
	if c.nameable {
		todo = option.Phrasef("name the encoding (%s, %s or another), or %s", option.Set("encoding", "windows-1252"),
			option.Set("encoding", "latin-1"), todo)
	}
	return atLine(name, line, notUTF8(text, at, c.begun+1, todo))
}

// checked is a reader of UTF-8.
type checked struct {
	recoder
	half []byte // a character, read in part
}

func (c *checked) Read(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.ReadCloser.Read(b)
	text := b[:n]
	for len(c.half) > 0 && len(text) > 0 {
		c.half, text = append(c.half, text[0]), text[1:]
		if utf8.FullRune(c.half) {
			if !utf8.Valid(c.half) {
				c.err = c.notUTF8(append(c.half, text...), 0)
				return 0, c.err
			}
			c.pass(c.half)
			c.half = c.half[:0]
		}
	}
	whole := len(text)
	for k := 1; k < utf8.UTFMax && k <= len(text); k++ {
		if last := text[len(text)-k:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole = len(text) - k
			}
			break
		}
	}
	if !utf8.Valid(text[:whole]) {
		at := 0
		for r, size := utf8.DecodeRune(text); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(text[at:]) {
			at += size
		}
		c.err = c.notUTF8(text, at)
		return 0, c.err
	}
	if err != nil && (len(c.half) > 0 || whole < len(text)) {
		c.err = c.notUTF8(append(c.half, text...), whole)
		return 0, c.err
	}
	c.pass(text[:whole])
	c.half = append(c.half, text[whole:]...)
	c.err = err
	return n, err
}

// conversion is the command for a shell that writes a file in UTF-8 beside the one of that name.
func conversion(name, encoding string) string {
	iconv := "iconv -f " + encoding + " -t UTF-8"
	if name == standardInput {
		return iconv
	}
	program, suffix := "", ""
	switch methodOfFile(name) {
	case "gzip":
		program, suffix = "gzip", ".gz"
	case "bzip2":
		program, suffix = "bzip2", ".bz2"
	case "zstd":
		program, suffix = "zstd", ".zst"
	}
	plain := strings.TrimSuffix(name, suffix)
	kind := filepath.Ext(plain)
	out := quoted(strings.TrimSuffix(plain, kind) + ".utf8" + kind)
	if program == "" {
		return iconv + " " + quoted(name) + " > " + out
	}
	return program + " -dc " + quoted(name) + " | " + iconv + " > " + out
}

// quoted is a word of a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+=:@%,", r)
	}
	if strings.HasPrefix(word, "-") {
		word = "./" + word
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// notUTF8 is the error for text that is not UTF-8 from a byte on, which begins this character of its line, counted from 1; it shows the
// word around it and says what to do.
func notUTF8(text []byte, at, character int, todo *option.Phrase) error {
	blank := func(r rune) bool { return r <= ' ' || strings.ContainsRune(",;\"", r) }
	from, to := bytes.LastIndexFunc(text[:at], blank)+1, bytes.IndexFunc(text[at:], blank)
	if to < 0 {
		to = len(text) - at
	}
	return option.Errorf("%q is not UTF-8 (character %d of the line); %s", text[max(from, at-30):min(at+to, at+30)], character, todo)
}

// checkText returns an error if a value of a table with types is not UTF-8; it shows the text around the first byte that is not.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	at := 0
	for r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(b[at:]) {
		at += size
	}
	return fmt.Errorf("%q is not UTF-8; write the column as text in UTF-8, or leave it out", b[max(0, at-30):min(len(b), at+30)])
}

// CheckUTF8 says where the text of a file of another kind than data is not UTF-8, with its line and character.
func CheckUTF8(name string, text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	c := checked{recoder: recoder{ReadCloser: io.NopCloser(bytes.NewReader(text)), line: 1,
		place: func(line int) (string, int) { return name, line }}}
	_, err := io.Copy(io.Discard, &c)
	return err
}

// translated is a reader of another encoding.
type translated struct {
	recoder
	convert func(dst, src []byte, end bool) (text, rest []byte, err error)

	raw, text []byte // read and not converted; converted
	at        int    // of text, handed out
}

func (c *translated) Read(b []byte) (int, error) {
	for c.at == len(c.text) {
		if c.err != nil {
			return 0, c.err
		}
		if c.raw == nil {
			c.raw = make([]byte, 0, 1<<15)
		}
		n, err := c.ReadCloser.Read(c.raw[len(c.raw):cap(c.raw)])
		c.raw = c.raw[:len(c.raw)+n]
		text, rest, wrong := c.convert(c.text[:0], c.raw, errors.Is(err, io.EOF))
		if wrong != nil {
			err = c.wrong(text, wrong)
		} else {
			c.pass(text)
		}
		c.text, c.at, c.err = text, 0, err
		c.raw = c.raw[:copy(c.raw, rest)]
	}
	n := copy(b, c.text[c.at:])
	c.at += n
	return n, nil
}

// fromBytes converts an encoding of a byte a character, those from 0x80 to 0x9f by a table; 0 is none.
func fromBytes(high *[32]rune) func(dst, src []byte, end bool) (text, rest []byte, err error) {
	return func(dst, src []byte, _ bool) (text, rest []byte, err error) {
		for _, b := range src {
			r := rune(b)
			if high != nil && b >= 0x80 && b < 0xa0 {
				if r = high[b-0x80]; r == 0 {
					return dst, nil, fmt.Errorf("the byte 0x%x is no character of windows-1252", b)
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, nil, nil
	}
}

// windows1252 are its characters from 0x80 to 0x9f.
var windows1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// fromUTF16 converts UTF-16. A byte order mark becomes that of UTF-8, which readers skip.
func fromUTF16(big bool) func(dst, src []byte, end bool) (text, rest []byte, err error) {
	return func(dst, src []byte, end bool) (text, rest []byte, err error) {
		unit := func(at int) rune {
			if big {
				return rune(src[at])<<8 | rune(src[at+1])
			}
			return rune(src[at+1])<<8 | rune(src[at])
		}
		at := 0
		for at+1 < len(src) {
			r, size := unit(at), 2
			if utf16.IsSurrogate(r) {
				if at+3 >= len(src) {
					if end {
						return dst, nil, errors.New("the UTF-16 ends within a character")
					}
					break
				}
				pair := utf16.DecodeRune(r, unit(at+2))
				if pair == utf8.RuneError {
					return dst, nil, fmt.Errorf("the unit 0x%04x is no character of UTF-16", r)
				}
				r, size = pair, 4
			}
			if r == 0 {
				return dst, nil, errors.New("a character 0 in UTF-16; is it a text?")
			}
			dst = utf8.AppendRune(dst, r)
			at += size
		}
		if end && at < len(src) {
			return dst, nil, errors.New("the UTF-16 ends within a character")
		}
		return dst, src[at:], nil
	}
}
