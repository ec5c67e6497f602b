package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of pages.
const codecNone, codecSnappy, codecGzip, codecLZO, codecBrotli, codecLZ4, codecZstd, codecLZ4Raw = 0, 1, 2, 3, 4, 5, 6, 7

// largestWindow is the most memory that a frame of zstd may ask for.
const largestWindow = 32 << 20

// unpacker unpacks pages.
type unpacker struct {
	packed []byte // reused
	source bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

func (c *unpacker) close() {
	if c.zstd != nil {
		c.zstd.Close()
		c.zstd = nil
	}
}

// unpack appends what packed bytes stand for, which are size bytes. What it allocates is bounded by what the packed bytes can hold,
// whatever is claimed.
func (c *unpacker) unpack(dst, packed []byte, codec int64, size int) ([]byte, error) {
	first := len(dst)
	var err error
	if size > 0 || codec == codecNone { // nothing is packed in any way
		dst, err = c.append(dst, packed, codec, size)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("a page cannot be unpacked: %w", err)
	case len(dst)-first != size:
		return nil, fmt.Errorf("a page unpacks to %d bytes instead of %d", len(dst)-first, size)
	}
	return dst, nil
}

func (c *unpacker) append(dst, packed []byte, codec int64, size int) ([]byte, error) {
	first := len(dst)
	switch codec {
	case codecNone:
		return append(dst, packed...), nil
	case codecSnappy:
		n, err := snappy.DecodedLen(packed)
		if err != nil || n != size || n > 64*len(packed) {
			return nil, fmt.Errorf("%d bytes by Snappy that stand for %d", len(packed), n)
		}
		dst = slices.Grow(dst, n)[:first+n]
		_, err = snappy.Decode(dst[first:], packed)
		return dst, err
	case codecLZ4Raw:
		return unpackLZ4(dst, packed, size)
	case codecLZ4:
		if all, err := unpackHadoop(dst, packed, size); err == nil {
			return all, nil
		}
		return unpackLZ4(dst, packed, size)
	case codecLZO:
		return nil, errors.New("it is compressed by LZO, which is not read; write it with zstd")
	}
	c.source.Reset(packed)
	var r io.Reader
	var err error
	switch codec {
	case codecGzip:
		if c.gzip == nil {
			c.gzip, err = gzip.NewReader(&c.source)
		} else {
			err = c.gzip.Reset(&c.source)
		}
		r = c.gzip
	case codecBrotli:
		if c.brotli == nil {
			c.brotli = brotli.NewReader(&c.source)
		} else {
			err = c.brotli.Reset(&c.source)
		}
		r = c.brotli
	case codecZstd:
		if c.zstd == nil {
			if c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(largestWindow)); err != nil {
				return nil, err
			}
		}
		err = c.zstd.Reset(&c.source)
		r = c.zstd
	default:
		return nil, fmt.Errorf("it is compressed by an unknown method (%d)", codec)
	}
	if err != nil {
		return nil, err
	}
	return appendAll(dst, r, size, min(size, 256*len(packed)+4096))
}

// appendAll appends size bytes; it allocates room for some, and then as they come.
func appendAll(dst []byte, r io.Reader, size, room int) ([]byte, error) {
	first := len(dst)
	dst = slices.Grow(dst, room)
	for len(dst)-first < size {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, min(size-(len(dst)-first), len(dst)))
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), first+size)])
		if dst = dst[:len(dst)+n]; err == io.EOF {
			return dst, nil
		} else if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// unpackLZ4 appends a block of LZ4, whose bytes stand for 255 at most.
func unpackLZ4(dst, packed []byte, size int) ([]byte, error) {
	if size > 256*len(packed)+64 {
		return nil, fmt.Errorf("%d bytes by LZ4 that stand for %d", len(packed), size)
	}
	first := len(dst)
	dst = slices.Grow(dst, size)[:first+size]
	n, err := lz4.UncompressBlock(packed, dst[first:])
	return dst[:first+max(0, n)], err
}

// unpackHadoop appends blocks of LZ4 as Hadoop writes them, each with its sizes in front.
func unpackHadoop(dst, packed []byte, size int) ([]byte, error) {
	first := len(dst)
	for len(packed) > 0 {
		if len(packed) < 8 {
			return nil, errors.New("a block of LZ4 without sizes")
		}
		n, of := binary.BigEndian.Uint32(packed), binary.BigEndian.Uint32(packed[4:])
		packed = packed[8:]
		if uint64(of) > uint64(len(packed)) || uint64(n) > uint64(size-(len(dst)-first)) {
			return nil, errors.New("a block of LZ4 with sizes that cannot be")
		}
		all, err := unpackLZ4(dst, packed[:of], int(n))
		if err != nil || len(all) != len(dst)+int(n) {
			return nil, errors.New("a block of LZ4 is damaged")
		}
		dst, packed = all, packed[of:]
	}
	return dst, nil
}
