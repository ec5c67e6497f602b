// Package objects reads and writes the objects of Amazon's S3 and of stores that speak its protocol, under addresses such as s3://BUCKET/KEY.
//
// Who asks and where is said as to Amazon's own programs: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the file of
// AWS_SHARED_CREDENTIALS_FILE, or the role of the machine; AWS_REGION; and for another store than Amazon's AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
// Without credentials, requests are not signed.
package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"mercer/internal/read/outside"
)

func init() {
	outside.OpenObject = func(ctx context.Context, address string) (outside.Object, error) { return Open(ctx, address) }
	outside.ListObjects = List
}

// Prefix is what addresses of objects begin with.
const Prefix = "s3://"

// split divides an address into a bucket and a key, which may be empty.
func split(address string) (bucket, key string, err error) {
	rest, is := strings.CutPrefix(address, Prefix)
	bucket, key, _ = strings.Cut(rest, "/")
	if !is || bucket == "" {
		return "", "", fmt.Errorf("%s: is no address of an object; they are written s3://BUCKET/KEY", address)
	}
	return bucket, key, nil
}

// Clients are kept for each setting of the environment, since they keep connections and the credentials of roles.
var (
	mu      sync.Mutex
	clients = map[string]*minio.Client{}
)

func clientFor(address string) (*minio.Client, error) {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	key := strings.Join([]string{endpoint, region, os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_PROFILE")}, "\x00")
	mu.Lock()
	defer mu.Unlock()
	if c := clients[key]; c != nil {
		return c, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("%s: the endpoint %q is no address of a store; write https://HOST[:PORT]", address, endpoint)
	}
	// Only machines of Amazon have roles; elsewhere nobody answers.
	role := &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}}
	c, err := minio.New(u.Host, &minio.Options{
		Secure: u.Scheme == "https", Region: region, MaxRetries: 4,
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, role}),
	})
	if err == nil {
		clients[key] = c
	}
	return c, err
}

// told is an error about an address, in plain words where they are known.
func told(address string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var r minio.ErrorResponse
	if !errors.As(err, &r) {
		return fmt.Errorf("%s: %w", address, err)
	}
	switch {
	case r.Code == "NoSuchBucket":
		return fmt.Errorf("%s: there is no such bucket: %w", address, fs.ErrNotExist)
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", address, fs.ErrNotExist)
	case r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w: the store refuses (%s); are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION right?", address, fs.ErrPermission, r.Code)
	case r.StatusCode == http.StatusPreconditionFailed:
		return fmt.Errorf("%s: has changed while it was read", address)
	}
	return fmt.Errorf("%s: the store says %s (%d %s)", address, cmp.Or(r.Message, r.Code), r.StatusCode, r.Code)
}

// An object is read in chunks, which grow from firstChunk to mostChunk while it is read in order.
const (
	firstChunk = 256 << 10
	mostChunk  = 8 << 20
	mostTries  = 4 // of a chunk
)

// Object is an object to be read. Methods may be called concurrently.
type Object struct {
	ctx     context.Context
	client  *minio.Core
	address string
	bucket  string
	key     string
	tag     string // of its version
	size    int64

	mu    sync.Mutex
	at    int64 // of the chunk
	chunk []byte
}

// Open finds an object. Its reads end with ctx, and are all of the version that it has now.
func Open(ctx context.Context, address string) (*Object, error) {
	o := &Object{ctx: ctx, address: address}
	c, err := clientFor(address)
	if err == nil {
		o.client = &minio.Core{Client: c}
		o.bucket, o.key, err = split(address)
	}
	if err != nil {
		return nil, err
	}
	if o.key == "" || strings.HasSuffix(o.key, "/") {
		return nil, fmt.Errorf("%s: %w", address, fs.ErrNotExist)
	}
	info, err := c.StatObject(ctx, o.bucket, o.key, minio.StatObjectOptions{})
	o.tag, o.size = info.ETag, info.Size
	if err != nil {
		return nil, told(address, err)
	}
	return o, nil
}

// Size is the number of bytes.
func (o *Object) Size() int64 { return o.size }

// Close implements io.Closer. Nothing is left open between reads.
func (o *Object) Close() error { return nil }

// ReadAt implements io.ReaderAt.
func (o *Object) ReadAt(p []byte, at int64) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n < len(p) {
		if at >= o.size {
			return n, io.EOF
		}
		if at < o.at || at >= o.at+int64(len(o.chunk)) {
			if err := o.fetch(at); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], o.chunk[at-o.at:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

// fetch reads the chunk from at on.
func (o *Object) fetch(at int64) (err error) {
	length := int64(firstChunk)
	if len(o.chunk) > 0 && at == o.at+int64(len(o.chunk)) {
		length = min(2*int64(len(o.chunk)), mostChunk)
	}
	length = min(length, o.size-at)
	if int64(cap(o.chunk)) < length {
		o.chunk = make([]byte, length)
	}
	chunk := o.chunk[:length]
	o.chunk = nil
	for try := range mostTries {
		if try > 0 {
			select {
			case <-time.After(time.Second << (try - 1) / 4):
			case <-o.ctx.Done():
				return o.ctx.Err()
			}
		}
		var again bool
		if again, err = o.get(chunk, at); err == nil {
			o.at, o.chunk = at, chunk
			return nil
		} else if !again || o.ctx.Err() != nil {
			break
		}
	}
	return told(o.address, err)
}

// get fills p from at on, and says whether it may succeed another time.
func (o *Object) get(p []byte, at int64) (again bool, err error) {
	opt := minio.GetObjectOptions{}
	if err := errors.Join(opt.SetRange(at, at+int64(len(p))-1), opt.SetMatchETag(o.tag)); err != nil {
		return false, err
	}
	r, _, _, err := o.client.GetObject(o.ctx, o.bucket, o.key, opt)
	if err != nil {
		return false, err // the client has tried again where it could help
	}
	defer r.Close()
	_, err = io.ReadFull(r, p)
	return true, err
}

// Put writes an object of size bytes, which appears whole or not at all.
func Put(ctx context.Context, address string, r io.Reader, size int64) error {
	bucket, key, err := split(address)
	if err != nil {
		return err
	}
	c, err := clientFor(address)
	if err == nil {
		_, err = c.PutObject(ctx, bucket, key, r, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	}
	return told(address, err)
}

// List lists the addresses of the objects that one stands for, in order: of those below it as if it were a folder, or of those that match it as a
// pattern, with *, ? and [] that do not reach over a slash, and below these. It is nil if the address is that of an object. Names that begin
// with . or _ below what was given are left out.
func List(ctx context.Context, address string, most int) ([]string, error) {
	bucket, key, err := split(address)
	if err != nil {
		return nil, err
	}
	wild := strings.IndexAny(key, "*?[")
	if wild < 0 && key != "" && !strings.HasSuffix(key, "/") {
		if _, err := Open(ctx, address); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		key += "/"
	}
	pattern := strings.TrimSuffix(key, "/")
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: the pattern cannot be read: %w", address, err)
	}
	prefix := key
	if wild >= 0 {
		prefix = key[:wild]
	}
	c, err := clientFor(address)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var found []string
	for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, told(address, o.Err)
		}
		if strings.HasSuffix(o.Key, "/") || !matches(pattern, o.Key) {
			continue
		}
		if len(found) == most {
			return nil, fmt.Errorf("%s: there are more than %d objects", address, most)
		}
		found = append(found, Prefix+bucket+"/"+o.Key)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no object has such a name: %w", address, fs.ErrNotExist)
	}
	slices.Sort(found)
	return found, nil
}

// matches says whether a key, or a folder that it is below, matches a pattern.
func matches(pattern, key string) bool {
	parts := strings.Split(key, "/")
	depth := strings.Count(pattern, "/") + 1
	if pattern == "" {
		depth = 0
	}
	if len(parts) < depth {
		return false
	}
	for _, below := range parts[depth:] {
		if strings.HasPrefix(below, ".") || strings.HasPrefix(below, "_") {
			return false
		}
	}
	ok, _ := path.Match(pattern, strings.Join(parts[:depth], "/"))
	return ok
}
