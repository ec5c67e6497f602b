package dataset

import (
	"bytes"
	"strings"
	"testing"
)

// What is unpacked to disk is bounded.
func TestUnpackedFilesAreBounded(t *testing.T) {
	var b bytes.Buffer
	if err := inflate(&b, strings.NewReader("12345"), 5); err != nil || b.String() != "12345" {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := inflate(&b, strings.NewReader(strings.Repeat("1", 100)), 5); err == nil || !strings.Contains(err.Error(), "takes more than 5 B when it is unpacked") || b.Len() > 6 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	if mostInflated(1<<20) != 1<<30 || mostInflated(1<<30) != mostFetched {
		t.Error(mostInflated(1<<20), mostInflated(1<<30))
	}
}
