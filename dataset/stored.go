package dataset

import (
	"errors"
	"math/big"
	"time"
)

// stored is how a column of Parquet or Arrow keeps what is no float: as a whole number, or as bytes.
type stored struct {
	kind  storedKind
	unit  time.Duration // of a time
	scale int           // of a decimal
}

type storedKind uint8

const (
	storedWhole storedKind = iota
	storedBool
	storedUint
	storedHalf    // the bits of a float16
	storedDecimal // a whole number, or bytes with the most significant first
	storedDay     // days since 1970
	storedClock   // units since midnight
	storedInstant // units since 1970
	storedUUID    // 16 bytes
	storedText
)

// textual says that the column is text, even if it looks like numbers.
func (s *stored) textual() bool { return s.kind == storedBool || s.kind >= storedDay }

// cell makes a cell of a whole number or of bytes. What has to be written as text goes to the end of text.
func (s *stored) cell(to *cell, n int64, b []byte, text *[]byte) error {
	from := len(*text)
	switch s.kind {
	case storedBool:
		*to = cell{kind: cellBool, whole: n}
	case storedUint:
		to.setUint(uint64(n), text)
	case storedHalf:
		var scratch []byte
		to.setNumber(shortest(float32(half(uint16(n))), &scratch))
	case storedDecimal:
		whole := big.NewInt(n)
		if b != nil {
			if len(b) > 64 {
				return errors.New("a decimal has more than 512 bits")
			}
			whole = twosComplement(b)
		}
		var err error
		*text, err = appendDecimal(*text, whole, s.scale)
		*to = cell{kind: cellWritten, text: (*text)[from:]}
		return err
	case storedDay:
		*to = cell{kind: cellDay, whole: n * 86400}
	case storedClock, storedInstant:
		per := int64(time.Second / s.unit)
		t := time.Unix(n/per, n%per*int64(s.unit)).UTC()
		if to.setTime(t); s.kind == storedClock {
			*text = t.AppendFormat(*text, "15:04:05.999999999")
			*to = cell{kind: cellText, text: (*text)[from:]}
		}
	case storedUUID:
		*text = appendUUID(*text, b)
		*to = cell{kind: cellText, text: (*text)[from:]}
	case storedText:
		*to = cell{kind: cellText, text: b}
		return checkText(b)
	default:
		*to = cell{kind: cellWhole, whole: n}
	}
	return nil
}
