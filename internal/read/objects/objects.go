// Package objects reads and writes the objects of Amazon's S3 and of stores that speak its protocol, under addresses such as s3://BUCKET/KEY.
//
// Who asks and where is said as to Amazon's own programs: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the file of
// AWS_SHARED_CREDENTIALS_FILE, or the role of the machine; AWS_REGION; and for another store than Amazon's AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
// Without credentials, requests are not signed.
package objects

import (
	"cmp"
	"context"
	"encoding/xml"
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

	"mercer/internal/engine/atomicfile"
	"mercer/internal/engine/remote"
)

func init() { remote.Use(store{}) }

// store is remote.Store.
type store struct{}

// split divides an address into a bucket and a key, which may be empty.
func split(address string) (bucket, key string, err error) {
	if remote.Is(address) {
		bucket, key, _ = strings.Cut(address[len(remote.Prefix):], "/")
	}
	if bucket == "" {
		return "", "", fmt.Errorf("%s: is no address of an object; they are written s3://BUCKET/KEY", address)
	}
	return bucket, key, nil
}

// Clients are kept for each setting of the environment, since they keep connections and the credentials of roles.
var (
	mu      sync.Mutex
	clients = map[string]*minio.Client{}
)

const amazon = "s3.amazonaws.com"

func clientFor(address string) (*minio.Client, error) {
	var settings []string
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		settings = append(settings, os.Getenv(name))
	}
	key := strings.Join(settings, "\x00")
	mu.Lock()
	defer mu.Unlock()
	if c := clients[key]; c != nil {
		return c, nil
	}
	endpoint := cmp.Or(settings[0], settings[1], "https://"+amazon)
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("%s: the endpoint %q is no address of a store; write https://HOST[:PORT]", address, endpoint)
	}
	from := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if u.Host == amazon { // whose machines have roles; elsewhere nobody answers
		from = append(from, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
	}
	secure := u.Scheme == "https"
	next, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	c, err := minio.New(u.Host, &minio.Options{
		Secure: secure, Transport: &wary{next}, Region: cmp.Or(settings[2], settings[3]), MaxRetries: mostTries,
		Creds: credentials.NewChainCredentials(from),
	})
	if err == nil {
		clients[key] = c
	}
	return c, err
}

func noBucket(address string) error {
	return fmt.Errorf("%s: there is no such bucket: %w", address, fs.ErrNotExist)
}

// told is an error about an address, in plain words where they are known. ctx is that of the operation.
func told(ctx context.Context, address string, err error) error {
	var silent *remote.SilentError
	var other *otherServer
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case errors.As(cause, &silent), errors.As(err, &silent):
		return fmt.Errorf("%s: the store at %w; %s", address, silent, check)
	case errors.As(cause, &other), errors.As(err, &other):
		return fmt.Errorf("%s: the server at %w; %s", address, other, check)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	var r minio.ErrorResponse
	var broken *xml.SyntaxError
	var unexpected xml.UnmarshalError
	if errors.As(err, &broken) || errors.As(err, &unexpected) {
		return fmt.Errorf("%s: the server answers what no store does (%w); %s", address, err, check)
	}
	if request := (*url.Error)(nil); errors.As(err, &request) {
		return fmt.Errorf("%s: %w; %s", address, request.Err, check)
	}
	if !errors.As(err, &r) { // the disk
		return fmt.Errorf("%s: %w", address, err)
	}
	switch {
	case r.Code == "NoSuchBucket":
		return noBucket(address)
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", address, fs.ErrNotExist)
	case r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w: the store refuses (%s); are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION right?", address, fs.ErrPermission, r.Code)
	case r.StatusCode == 0 && r.Code == "InternalError": // of the client, about an answer
		return fmt.Errorf("%s: the server answers what no store does (%s); %s", address, r.Message, check)
	case r.StatusCode == http.StatusBadRequest && r.Code == "400 Bad Request": // without a reason
		return fmt.Errorf("%s: the store says %s; are AWS_ENDPOINT_URL and AWS_REGION right?", address, r.Code)
	case r.StatusCode == http.StatusPreconditionFailed:
		return fmt.Errorf("%s: has changed while it was read", address)
	}
	return fmt.Errorf("%s: the store says %s (%d %s)", address, cmp.Or(r.Message, r.Code), r.StatusCode, r.Code)
}

// What is read of an object is kept in a temporary file, so that nothing is fetched twice, in whatever order it is read. A request asks for
// a block or what is wanted, and for twice as many as the last one if it goes on where that ended.
const (
	blockSize  = 256 << 10
	mostBlocks = 64 // of a request
	mostTries  = 4  // in a row, without a byte
)

// patience is how long a store may be silent.
var patience = remote.Patience // a constant but for tests

// object is an object to be read.
type object struct {
	ctx     context.Context
	client  *minio.Core
	address string
	bucket  string
	key     string
	version string
	size    int64

	mu    sync.Mutex
	kept  *atomicfile.Temporary // nil: nothing is read yet
	have  []bool                // the blocks in it
	next  int64                 // the block behind the last request
	asked int64                 // blocks of the last request
}

// Open implements remote.Store.
func (store) Open(ctx context.Context, address string) (remote.File, error) {
	o := &object{ctx: ctx, address: address}
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
	ctx, done := operation(ctx)
	defer done()
	info, err := c.StatObject(ctx, o.bucket, o.key, minio.StatObjectOptions{})
	if err != nil {
		return nil, told(ctx, address, err)
	}
	o.version, o.size = info.ETag, info.Size
	return o, nil
}

func (o *object) Size() int64     { return o.size }
func (o *object) Version() string { return o.version }

func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		return nil
	}
	kept := o.kept
	o.kept, o.have = nil, nil
	return kept.Close()
}

// ReadAt implements io.ReaderAt.
func (o *object) ReadAt(p []byte, at int64) (int, error) {
	end := min(at+int64(len(p)), o.size)
	if at >= end {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	kept, err := o.fetch(at/blockSize, (end-1)/blockSize)
	if err != nil {
		return 0, err
	}
	n, err := kept.ReadAt(p[:end-at], at)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// fetch sees that the blocks from first to last are kept.
func (o *object) fetch(first, last int64) (kept *atomicfile.Temporary, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		if o.kept, err = atomicfile.CreateTemporary("", "mercer-object-*"); err != nil {
			return nil, fmt.Errorf("%s: cannot be kept while it is read: %w", o.address, err)
		}
		o.have = make([]bool, (o.size+blockSize-1)/blockSize)
	}
	for at := first; at <= last; at++ {
		if o.have[at] {
			continue
		}
		n := int64(1)
		if at == o.next {
			n = 2 * o.asked
		}
		n = min(max(n, last-at+1), mostBlocks, int64(len(o.have))-at)
		if i := slices.Index(o.have[at:at+n], true); i > 0 {
			n = int64(i)
		}
		o.next, o.asked = at+n, n
		if err := o.request(at*blockSize, min((at+n)*blockSize, o.size)); err != nil {
			return nil, told(o.ctx, o.address, err)
		}
		for i := range n {
			o.have[at+i] = true
		}
	}
	return o.kept, nil
}

// request keeps the bytes from one to before another, and goes on where a connection breaks off.
func (o *object) request(from, to int64) (err error) {
	silent := 0
	for failed := 0; from < to; failed++ {
		if failed == mostTries {
			return fmt.Errorf("%w (tried %d times)", err, failed)
		}
		if failed > 0 {
			select {
			case <-time.After(time.Second << (failed - 1) / 4):
			case <-o.ctx.Done():
				return o.ctx.Err()
			}
		}
		n, failure := o.get(from, to)
		if err = failure; err != nil {
			var refused minio.ErrorResponse
			if o.ctx.Err() != nil {
				return o.ctx.Err()
			}
			if errors.As(err, &refused) {
				return err // the client has tried again where it could help
			}
			if silent++; !errors.As(err, new(*remote.SilentError)) || n > 0 {
				silent = 0
			}
			if silent == 2 {
				return err
			}
		}
		if from += n; n > 0 {
			failed = -1
		}
	}
	return nil
}

// get keeps what one request gives.
func (o *object) get(from, to int64) (n int64, err error) {
	opt := minio.GetObjectOptions{}
	if err := opt.SetRange(from, to-1); err != nil {
		return 0, err
	}
	if o.version != "" {
		if err := opt.SetMatchETag(o.version); err != nil {
			return 0, err
		}
	}
	ctx, done := operation(o.ctx)
	defer done()
	r, _, _, err := o.client.GetObject(ctx, o.bucket, o.key, opt)
	if err != nil {
		return 0, cmp.Or(context.Cause(ctx), err)
	}
	defer r.Close()
	w := io.NewOffsetWriter(o.kept, from)
	b := make([]byte, 64<<10)
	for n < to-from {
		got, err := r.Read(b[:min(int64(len(b)), to-from-n)])
		if _, err := w.Write(b[:got]); err != nil {
			return n, fmt.Errorf("cannot be kept while it is read: %w", err)
		}
		if n += int64(got); err != nil && n < to-from {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, cmp.Or(context.Cause(ctx), err)
		}
	}
	return n, nil
}

// Writable implements remote.Store.
func (store) Writable(ctx context.Context, address string) error {
	bucket, key, err := split(address)
	if err != nil {
		return err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return fmt.Errorf("%s: is no name for an object; give s3://BUCKET/KEY", address)
	}
	c, err := clientFor(address)
	if err != nil {
		return err
	}
	ctx, done := operation(ctx)
	defer done()
	there, err := c.BucketExists(ctx, bucket)
	if minio.ToErrorResponse(err).StatusCode == http.StatusForbidden {
		return nil // who may write may be refused that question
	}
	if err == nil && !there {
		return noBucket(address)
	}
	return told(ctx, address, err)
}

// Delete implements remote.Store.
func (store) Delete(ctx context.Context, address string) error {
	bucket, key, err := split(address)
	if err != nil {
		return err
	}
	ctx, done := operation(ctx)
	defer done()
	c, err := clientFor(address)
	if err == nil {
		err = c.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{})
	}
	return told(ctx, address, err)
}

// Put implements remote.Store.
func (store) Put(ctx context.Context, address string, r io.Reader, size int64) error {
	bucket, key, err := split(address)
	if err != nil {
		return err
	}
	ctx, done := operation(ctx)
	defer done()
	c, err := clientFor(address)
	if err == nil {
		_, err = c.PutObject(ctx, bucket, key, r, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	}
	return told(ctx, address, err)
}

// List implements remote.Store: objects below an address as if it were a folder, or those that match it as a pattern, with *, ? and [] that do
// not reach over a slash, and below these. Names that begin with . or _ below what was given are left out.
func (store) List(ctx context.Context, address string, most int) ([]string, error) {
	bucket, key, err := split(address)
	if err != nil {
		return nil, err
	}
	wild := strings.IndexAny(key, "*?[")
	if key != "" && !strings.HasSuffix(key, "/") {
		if _, err := (store{}).Open(ctx, address); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if wild < 0 {
			key += "/"
		}
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
	ctx, done := operation(ctx)
	defer done()
	var found []string
	for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, told(ctx, address, o.Err)
		}
		if strings.HasSuffix(o.Key, "/") || !matches(pattern, o.Key) {
			continue
		}
		if len(found) == most {
			return nil, fmt.Errorf("%s: there are more than %d objects", address, most)
		}
		found = append(found, remote.Prefix+bucket+"/"+o.Key)
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
