package dataset

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// The share of a compressed file is that of what has been used, not of what was decompressed ahead.
func TestShareIsOfWhatWasUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	const size = 8 << 20
	r := rand.New(rand.NewPCG(3, 4))
	raw := make([]byte, size)
	for i := range raw {
		raw[i] = byte(r.IntN(16)) // half a byte of information each
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := newPacked("x.gz", bytesFile{packed.Bytes()}, int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	in, share, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	buf := make([]byte, size/16)
	for i := range 16 {
		if _, err := io.ReadFull(in, buf); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf, raw[i*len(buf):(i+1)*len(buf)]) {
			t.Fatalf("part %d is not what was compressed", i)
		}
		// The decompressor has 64 KB of its input at a time.
		if want := float64(i+1) / 16; math.Abs(share()-want) > 2*float64(1<<16)/float64(packed.Len()) {
			t.Errorf("after %g of the file the share is %g", want, share())
		}
	}
	if n, err := in.Read(buf); n != 0 || err != io.EOF || share() != 1 {
		t.Errorf("at the end %d bytes, %v, share %g", n, err, share())
	}
}
