package testenv

import (
	"bufio"
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Objects is a small object store in this process, of one bucket, "shop". It knows what Mercer asks for: objects, ranges of them in one version, lists,
// and objects that come in parts.
type Objects struct {
	// Before may answer a request in place of the store, which it says by true.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu   sync.Mutex
	kept map[string][]byte
	log  []string
}

// NewObjects starts a store, and has the environment name it, and a key to sign requests by.
func NewObjects(t testing.TB) *Objects {
	t.Helper()
	o := &Objects{kept: map[string][]byte{}}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1", "AWS_PROFILE": "", "AWS_SHARED_CREDENTIALS_FILE": "/none",
		"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return o
}

// Put keeps an object.
func (o *Objects) Put(key string, b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[key] = b
}

// Get is an object; nil if there is none.
func (o *Objects) Get(key string) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept[key]
}

// Delete removes an object.
func (o *Objects) Delete(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.kept, key)
}

// Keys are those of all objects, in order.
func (o *Objects) Keys() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.kept))
}

// Requests are what was asked for, such as "GET rows.csv bytes=0-99".
func (o *Objects) Requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// ServeHTTP implements http.Handler.
func (o *Objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	o.mu.Lock()
	o.log = append(o.log, strings.TrimSpace(r.Method+" "+key+" "+r.Header.Get("Range")))
	o.mu.Unlock()
	w.Header().Set("X-Amz-Request-Id", "1") // as stores do
	if o.Before != nil && o.Before(w, r) {
		return
	}
	switch {
	case !strings.Contains(r.Header.Get("Authorization"), "Credential=someone/"):
		Refuse(w, http.StatusForbidden, "AccessDenied")
	case bucket != "shop":
		Refuse(w, http.StatusNotFound, "NoSuchBucket")
	case key == "" && r.Method == http.MethodGet:
		o.list(w, r)
	case key == "":
	case r.Method == http.MethodDelete:
		o.Delete(key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		o.put(w, r, key)
	default:
		b := o.Get(key)
		if b == nil {
			Refuse(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("ETag", tag(b))
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(string(b)))
	}
}

// Refuse answers with an error of such a store.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s.</Message></Error>", code, code)
}

func tag(b []byte) string {
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// list lists objects in pages of three.
func (o *Objects) list(w http.ResponseWriter, r *http.Request) {
	type contents struct {
		Key, ETag    string
		Size         int
		LastModified time.Time
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []contents
	}
	q := r.URL.Query()
	for _, key := range o.Keys() {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= cmp.Or(q.Get("continuation-token"), q.Get("start-after")) {
			continue
		}
		if len(page.Contents) == 3 {
			page.IsTruncated, page.NextContinuationToken = true, page.Contents[2].Key
			break
		}
		b := o.Get(key)
		page.Contents = append(page.Contents, contents{key, tag(b), len(b), time.Unix(1e9, 0)})
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// put keeps an object, or a part of one under a name of its own, or joins the parts.
func (o *Objects) put(w http.ResponseWriter, r *http.Request, key string) {
	q := r.URL.Query()
	part := func(n int) string { return fmt.Sprintf("%s?%d", key, n) }
	if q.Has("uploads") {
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
		return
	}
	var b []byte
	var err error
	switch n, _ := strconv.Atoi(q.Get("partNumber")); {
	case r.Method == http.MethodPost:
		for n := 1; o.Get(part(n)) != nil; n++ {
			b = append(b, o.Get(part(n))...)
			o.Delete(part(n))
		}
		o.Put(key, b)
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>shop</Bucket><ETag>%s</ETag></CompleteMultipartUploadResult>", tag(b))
		return
	case n > 0:
		key = part(n)
	}
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		b, err = chunks(bufio.NewReader(r.Body))
	} else {
		b, err = io.ReadAll(r.Body)
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	o.Put(key, b)
	w.Header().Set("ETag", tag(b))
}

// chunks reads a body in chunks that are signed each.
func chunks(r *bufio.Reader) (b []byte, err error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if n == 0 || err != nil {
			return b, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(r, chunk); err != nil {
			return nil, err
		}
		b = append(b, chunk[:n]...)
	}
}
