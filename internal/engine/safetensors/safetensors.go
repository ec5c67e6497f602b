// Package safetensors writes and reads files of tensors in the safetensors layout with a
// checksum of the whole file: models and saved statistics.
package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// The layout (docs/model-file.md):
//
//	8 bytes   length of the header, little-endian
//	header    JSON: "__metadata__" (strings) and, for each tensor, dtype, shape, data_offsets
//	data      the tensors, little-endian, back to back in the order of their names
//
// __metadata__.sha256 is the SHA-256 of the whole file with that value's own 64 digits
// taken as '0', so that no bit of the file can change unnoticed.

// maxHeader is the largest header that the safetensors format allows.
const maxHeader = 100 << 20

// Tensor is an array of a file; its elements are a []float32 or a []float64.
type Tensor struct {
	Shape []int
	F32   []float32
	F64   []float64
}

func (t *Tensor) dtype() (name string, size int64) {
	if t.F64 != nil {
		return "F64", 8
	}
	return "F32", 4
}

func (t *Tensor) len() int { return len(t.F32) + len(t.F64) }

// elements is how many elements a shape has; ok is false if no file can hold so many.
func elements(shape []int) (count int64, ok bool) {
	count = 1
	for _, s := range shape {
		if s < 0 || s > 0 && count > math.MaxInt64/8/int64(s) {
			return 0, false
		}
		count *= int64(s)
	}
	return count, true
}

// entry is how the header describes a tensor.
type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// parseEntry reads an entry. Names count as they are written, and none but these three may stand there:
// readers that disagree about what a file says must not all accept it.
func parseEntry(text []byte) (e entry, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return e, err
	}
	for name, value := range fields {
		switch name {
		case "dtype":
			err = json.Unmarshal(value, &e.DType)
		case "shape":
			err = json.Unmarshal(value, &e.Shape)
		case "data_offsets":
			if err = json.Unmarshal(value, &e.Offsets); err == nil && len(e.Offsets) != 2 {
				err = fmt.Errorf("%d offsets, not 2", len(e.Offsets))
			}
		default:
			err = fmt.Errorf("%q does not describe a tensor", name)
		}
		if err != nil {
			return e, err
		}
	}
	if e.Offsets == nil {
		return e, errors.New("it has no data_offsets")
	}
	return e, nil
}

const (
	metaKey   = "__metadata__"
	sumKey    = "sha256"
	sumLength = 2 * sha256.Size
)

var blankSum = string(bytes.Repeat([]byte("0"), sumLength))

// Write writes a file. The bytes depend on meta and tensors alone. It fails on what Read would refuse, before
// anything is written.
func Write(w io.Writer, meta map[string]string, tensors map[string]*Tensor) error {
	described := map[string]string{sumKey: blankSum}
	for key, value := range meta {
		if key == sumKey || !utf8.ValidString(key) || !utf8.ValidString(value) {
			return fmt.Errorf("the description %q: %q cannot be written", key, value)
		}
		described[key] = value
	}
	header := map[string]any{metaKey: described}
	names := slices.Sorted(maps.Keys(tensors))
	offset := int64(0)
	for _, name := range names {
		t := tensors[name]
		if name == metaKey || !utf8.ValidString(name) {
			return fmt.Errorf("a tensor cannot be called %q", name)
		}
		dtype, size := t.dtype()
		if count, ok := elements(t.Shape); !ok || count != int64(t.len()) || t.F32 != nil && t.F64 != nil {
			return fmt.Errorf("tensor %q: shape %v does not fit %d float32 and %d float64", name, t.Shape, len(t.F32), len(t.F64))
		}
		end := offset + size*int64(t.len())
		header[name] = entry{DType: dtype, Shape: append([]int{}, t.Shape...), Offsets: []int64{offset, end}}
		offset = end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if len(text) > maxHeader {
		return fmt.Errorf("the model's description takes %d bytes; the format allows %d", len(text), maxHeader)
	}

	body := func(w io.Writer) error {
		if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		for _, name := range names {
			t := tensors[name]
			var err error
			if t.F64 != nil {
				err = binary.Write(w, binary.LittleEndian, t.F64)
			} else {
				err = binary.Write(w, binary.LittleEndian, t.F32)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	sum := sha256.New()
	if err := body(sum); err != nil {
		return err
	}
	at := sumAt(text)
	hex.Encode(text[at:at+sumLength], sum.Sum(nil))
	return body(w)
}

// sumAt finds the digits of the checksum in a header, -1 if they are not there. The key
// cannot occur inside a string of the header: there its quotes would be escaped.
func sumAt(header []byte) int {
	key := []byte(`"` + sumKey + `":"`)
	at := bytes.Index(header, key)
	if at < 0 || at+len(key)+sumLength > len(header) {
		return -1
	}
	return at + len(key)
}

// Seal corrects the checksum of a file that was altered on purpose, in place, as tests of
// readers do. It says whether the file has one.
func Seal(file []byte) bool {
	if len(file) < 8 {
		return false
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return false
	}
	header := file[8 : 8+n]
	at := sumAt(header)
	if at < 0 {
		return false
	}
	copy(header[at:], blankSum)
	sum := sha256.Sum256(file)
	hex.Encode(header[at:], sum[:])
	return true
}

// errCut is a file that ends too early, or whose lengths were altered.
var errCut = errors.New("the file is cut short or damaged; make it again or copy it anew")

// fill reads as many bytes as p has.
func fill(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// Read reads a file of size bytes and checks it. Nothing is allocated that size does not cover, so size must
// be what the file has and not what somebody claims.
func Read(r io.Reader, size int64) (meta map[string]string, tensors map[string]*Tensor, err error) {
	text, data, err := readSealed(r, size)
	if err != nil {
		return nil, nil, err
	}
	meta, header, err := parseHeader(text)
	if err != nil {
		return nil, nil, err
	}
	tensors = make(map[string]*Tensor, len(header))
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(header)) {
		e, err := parseEntry(header[name])
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		t, err := e.read(data)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		tensors[name] = t
		entries = append(entries, e)
	}
	if err := checkOffsets(entries, int64(len(data))); err != nil {
		return nil, nil, err
	}
	return meta, tensors, nil
}

// readSealed reads the header and the data, and checks the checksum, whose digits in the header become blank.
func readSealed(r io.Reader, size int64) (text, data []byte, err error) {
	if size == 0 {
		return nil, nil, errors.New("the file is empty")
	}
	var length [8]byte
	if err := fill(r, length[:]); err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, nil, errors.New("not a model file, or one that is cut short")
	}
	if size > math.MaxInt {
		return nil, nil, fmt.Errorf("the file has %d bytes, more than this machine can address", size)
	}
	text = make([]byte, n)
	if err := fill(r, text); err != nil {
		return nil, nil, err
	}
	if len(text) == 0 || text[0] != '{' {
		return nil, nil, errors.New("not a model file: it has no header")
	}
	at := sumAt(text)
	if at < 0 { // before the data are read: this may be any large file
		return nil, nil, errNoSum
	}
	data = make([]byte, size-8-int64(n))
	if err := fill(r, data); err != nil {
		return nil, nil, err
	}
	stored := string(text[at : at+sumLength])
	copy(text[at:], blankSum)
	sum := sha256.New()
	sum.Write(length[:])
	sum.Write(text)
	sum.Write(data)
	if hex.EncodeToString(sum.Sum(nil)) != stored {
		return nil, nil, errors.New("the checksum is wrong: the file was cut or altered; make it again or copy it anew")
	}
	return text, data, nil
}

// parseHeader reads a header whose checksum is blank: the description, and the entries of the tensors, unparsed.
func parseHeader(text []byte) (meta map[string]string, tensors map[string]json.RawMessage, err error) {
	if err := checkNames(text); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, &tensors); err != nil {
		return nil, nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	if err := json.Unmarshal(tensors[metaKey], &meta); err != nil {
		return nil, nil, fmt.Errorf("the header's %s: %w", metaKey, err)
	}
	if meta[sumKey] != blankSum { // what was checked stands elsewhere
		return nil, nil, errNoSum
	}
	delete(meta, sumKey)
	delete(tensors, metaKey)
	return meta, tensors, nil
}

// checkOffsets fails unless the tensors are back to back and all of the data. It sorts entries.
func checkOffsets(entries []entry, size int64) error {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	covered := int64(0)
	for _, e := range entries {
		if e.Offsets[0] != covered {
			return fmt.Errorf("a tensor begins at byte %d of the data, where the one before ends at %d", e.Offsets[0], covered)
		}
		covered = e.Offsets[1]
	}
	if covered != size {
		return fmt.Errorf("its tensors end at byte %d of the data, which has %d", covered, size)
	}
	return nil
}

// errNoSum is a header without a checksum, as that of another program's file.
var errNoSum = errors.New("not a model file: its header has no checksum")

// checkNames fails where two values of an object have one name, of which some readers take the first and some
// the last.
func checkNames(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var objects []map[string]bool // the names of each object or, nil, array that is open
	named := false                // the next string of the object is a value
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the header is not JSON: %w", err)
		}
		inObject := len(objects) > 0 && objects[len(objects)-1] != nil
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				objects = append(objects, map[string]bool{})
			case '[':
				objects = append(objects, nil)
			default:
				objects = objects[:len(objects)-1]
			}
			named = false
			continue
		case string:
			if inObject && !named {
				names := objects[len(objects)-1]
				if names[token] {
					return fmt.Errorf("the header has the name %q twice", token)
				}
				names[token], named = true, true
				continue
			}
		}
		named = false
	}
}

// read decodes the tensor that e describes.
func (e *entry) read(data []byte) (*Tensor, error) {
	size := int64(4)
	switch e.DType {
	case "F32":
	case "F64":
		size = 8
	default:
		return nil, fmt.Errorf("dtype %q; known are F32 and F64", e.DType)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > int64(len(data)) {
		return nil, fmt.Errorf("offsets [%d, %d) of %d bytes", from, to, len(data))
	}
	count, ok := elements(e.Shape)
	if !ok {
		return nil, fmt.Errorf("shape %v", e.Shape)
	}
	if count*size != to-from {
		return nil, fmt.Errorf("shape %v needs %d bytes, offsets give %d", e.Shape, count*size, to-from)
	}
	t := &Tensor{Shape: e.Shape}
	part := data[from:to]
	if size == 4 {
		t.F32 = make([]float32, count)
		for i := range t.F32 {
			t.F32[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
		}
	} else {
		t.F64 = make([]float64, count)
		for i := range t.F64 {
			t.F64[i] = math.Float64frombits(binary.LittleEndian.Uint64(part[8*i:]))
		}
	}
	return t, nil
}
