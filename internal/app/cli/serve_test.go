package cli

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mercer/internal/engine/chromium"
)

// serving starts "mercer serve" and returns its address, and what ends it and gives its exit code.
func startServe(t *testing.T, args ...string) (url string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	code := make(chan int, 1)
	var failed strings.Builder
	go func() {
		code <- Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0", "--log", "none"}, args...), strings.NewReader(""), w, &failed)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("mercer serve %v: %d, %s", args, <-code, failed.String())
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	ended := false
	end = func() int {
		if ended {
			return 0
		}
		ended = true
		cancel()
		return <-code
	}
	t.Cleanup(func() { end() })
	_, url, _ = strings.Cut(strings.TrimSpace(line), " on ")
	return url, end
}

func post(t *testing.T, client *http.Client, url, body, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// The server says where it listens, answers as predict does, loads a file again that has changed, and ends with 0.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	data, model := write(t, dir, "steps.csv", steps(300, 3, "low", "middle", "high")), filepath.Join(dir, "steps.mercer")
	ok(t, "train", data, "-o", model, "--features", "64", "--learner", "ridge")
	url, end := startServe(t, model, "--watch", "10ms")
	code, body := post(t, http.DefaultClient, url+"/predict", `[[0.1],[0.95]]`, "")
	if code != 200 || strings.Count(body, `"prediction"`) != 2 {
		t.Fatalf("%d %s", code, body)
	}
	other := write(t, dir, "other.csv", steps(300, 3, "a", "b", "c"))
	ok(t, "train", other, "-o", model, "--features", "32", "--learner", "ridge")
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, body = post(t, http.DefaultClient, url+"/predict", `[[0.1]]`, "")
		if strings.Contains(body, `"prediction":"a"`) || strings.Contains(body, `"prediction":"b"`) || strings.Contains(body, `"prediction":"c"`) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the new file is not served: %s", body)
		}
	}
	if code := end(); code != 0 {
		t.Errorf("the server ends with %d", code)
	}
}

// The page of the server shows a form and a prediction, on a screen and on a phone, light and dark, and says nothing on the console.
func TestServedPageInChromium(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	dir := t.TempDir()
	data, model := write(t, dir, "steps.csv", steps(300, 3, "low", "middle", "high")), filepath.Join(dir, "steps.mercer")
	ok(t, "train", data, "-o", model, "--features", "64", "--learner", "logistic")
	browser := chromium.Open(t)
	url, _ := startServe(t, model)
	for _, c := range []struct {
		width int
		dark  bool
	}{{1280, false}, {1280, true}, {390, false}} {
		picture, console := browser.Screenshot(url+"/", c.dark, c.width, 1400)
		text, _ := chromium.Seen(picture, c.dark)
		if text < 2000 || console != "" {
			t.Errorf("%d pixels, dark %v: %d points of text; the console says %q", c.width, c.dark, text, console)
		}
		if corner := chromium.Brightness(picture, 3, 3); c.dark && corner > 0.2 || !c.dark && corner < 0.95 {
			t.Errorf("%d pixels, dark %v: the background has the brightness %.2f", c.width, c.dark, corner)
		}
	}
}

func TestServeDemo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains on all digits")
	}
	url, _ := startServe(t, "--demo")
	if code, body := post(t, http.DefaultClient, url+"/v1/models/digits:predict", `{"instances":[[`+strings.Repeat("0,", 63)+`0]]}`, ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// Tokens, TLS and certificates of clients keep others out; a certificate that is renewed is used.
func TestServeKeepsOthersOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, model := write(t, dir, "steps.csv", steps(300, 3, "low", "middle", "high")), filepath.Join(dir, "steps.mercer")
	ok(t, "train", data, "-o", model, "--features", "64", "--learner", "ridge")
	cert, key, pool, pair := certify(t, dir, 1)
	tokens := write(t, dir, "tokens", "# of the team\nfirst\nsecond\n")
	url, _ := startServe(t, model, "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert, "--token-file", tokens)
	if !strings.HasPrefix(url, "https://") {
		t.Fatal(url)
	}
	dial := func(pool *x509.CertPool, pairs ...tls.Certificate) *http.Client {
		return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: pairs}}}
	}
	for token, want := range map[string]int{"first": 200, "second": 200, "third": 401, "": 401} {
		if code, body := post(t, dial(pool, pair), url+"/predict", `[[0.1]]`, token); code != want {
			t.Errorf("token %q: %d %s", token, code, body)
		}
	}
	if _, err := dial(pool).Get(url + "/ping"); err == nil {
		t.Error("a client without a certificate is answered")
	}
	until := func(what string, pool *x509.CertPool, pair tls.Certificate) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			answer, err := dial(pool, pair).Get(url + "/ping")
			if err == nil {
				answer.Body.Close()
				if answer.ProtoMajor != 2 { // that of gRPC
					t.Errorf("the protocol is %s", answer.Proto)
				}
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	_, _, renewedPool, renewed := certify(t, dir, 2)
	until("neither the renewed certificate nor the clients' is used", renewedPool, renewed)
	if _, err := dial(renewedPool, pair).Get(url + "/ping"); err == nil {
		t.Error("a client with a certificate of before is answered")
	}
}

// Files that do not fit leave the old ones, which the log says once.
func TestBrokenFilesOfTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, _, _ := certify(t, dir, 1)
	var log strings.Builder
	files := &tlsFiles{paths: []string{cert, key, cert}, log: slog.New(slog.NewTextHandler(&log, nil))}
	before, err := files.config(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "key.pem", "broken")
	for range 2 {
		files.looked = time.Time{}
		if now, err := files.config(nil); now != before || err != nil {
			t.Errorf("%p, %v, want %p", now, err, before)
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "key.pem are no certificate with its key") {
		t.Errorf("the log says %q", log.String())
	}
	certify(t, dir, 2)
	files.looked = time.Time{}
	if now, err := files.config(nil); now == before || err != nil {
		t.Errorf("files that fit again are not read: %v", err)
	}
}

// certify writes a certificate that signs itself, and its key.
func certify(t *testing.T, dir string, serial int64) (cert, key string, pool *x509.CertPool, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "mercer"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	a, b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(a)
	if pair, err = tls.X509KeyPair(a, b); err != nil {
		t.Fatal(err)
	}
	return write(t, dir, "cert.pem", string(a)), write(t, dir, "key.pem", string(b)), pool, pair
}

func TestServeFlags(t *testing.T) {
	dir := t.TempDir()
	empty := write(t, dir, "empty", "# none\n")
	for want, args := range map[string][]string{
		"give a model or a folder":     {},
		"or --demo":                    {"x", "--demo"},
		"go together":                  {"x", "--tls-cert", "a"},
		"needs --tls-cert":             {"x", "--tls-client-ca", "a"},
		"must be positive":             {"x", "--max-rows", "0"},
		"must not be negative":         {"x", "--drain", "-1s"},
		`--log "loud"`:                 {"x", "--log", "loud"},
		"none.csv":                     {"x", "--background", "a=none.csv"},
		"another file for the same":    {"x", "--background", "a=" + empty, "--background", "a=" + empty},
		"expected NAME=MODEL":          {"x", "--route", "a"},
		"is no share":                  {"x", "--route", "a=b:much"},
		"no share is more than 0":      {"x", "--route", "a=b:0"},
		"another route for a":          {"x", "--route", "a=b", "--route", "a=c"},
		"one shadow":                   {"x", "--shadow", "a=b,c"},
		"has no tokens":                {"x", "--token-file", empty},
		"no such file":                 {filepath.Join(dir, "none")},
		"are no certificate":           {"x", "--tls-cert", empty, "--tls-key", empty},
		"has no models: expected NAME": {t.TempDir()},
	} {
		var out, failed strings.Builder
		code := Run(context.Background(), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), &out, &failed)
		if code == 0 || !strings.Contains(failed.String(), want) || strings.Count(failed.String(), "\n") != 1 {
			t.Errorf("%v: %d, %s, want %q", args, code, failed.String(), want)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
}
