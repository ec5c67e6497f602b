package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mercer/internal/engine/remote"
	"mercer/serve"
)

// serving is the state of the command serve.
type serving struct {
	addr                string
	opt                 serve.Options
	listen              serve.Listening
	tokens              string
	cert, key, clientCA string
	log                 string
	demo                bool
	memory              bytesValue
	backgrounds         []string
	routes, shadows     []string
}

// watchObjects is how often objects are looked at, unless --watch says otherwise.
const watchObjects = 10 * time.Second

func newServe() *cobra.Command {
	s := &serving{}
	cmd := &cobra.Command{
		Use:   "serve [flags] MODEL|FOLDER",
		Short: "Answer requests with the predictions of models",
		Long: `Serve a model, or all models of a folder (NAME.mercer, or NAME/VERSION.mercer), also of S3 (s3://…), over HTTP:

  POST /predict                a record, an array of records, JSON lines or CSV; docs/serving.md has examples
  POST /v2/models/NAME/infer   Open Inference Protocol, REST with its binary extension (Triton's and KServe's clients);
                               gRPC on the same port
  POST /v1/models/NAME:predict KServe v1
  POST /invocations            MLflow
  GET  /                       a page with a form
  GET  /metrics                Prometheus; /openapi.json describes everything

Rows of concurrent requests are computed together, and have the same bits as alone. Files that change are loaded
again, at once on SIGHUP; one that cannot be loaded leaves the old model. On SIGTERM readiness fails first, and
requests that were taken are answered. It listens on this machine alone unless --addr says otherwise; give --token-file
and --tls-cert before others can reach it.`,
		Example: `  mercer serve digits.mercer
  mercer serve models/ --addr 0.0.0.0:8080 --token-file tokens --tls-cert cert.pem --tls-key key.pem
  mercer serve s3://shop/models --route prod=clicks/7
  mercer serve --demo
  curl -d '{"size": 90, "town": "Kiel"}' localhost:8080/predict`,
		Args: nArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	f.BoolVar(&s.demo, "demo", false, "train on the digits inside the program and serve that model")
	f.DurationVar(&s.opt.Timeout, "timeout", 10*time.Second, "time that a request may take; it may ask for less by X-Request-Timeout")
	f.Int64Var(&s.opt.Body, "max-body", 32<<20, "most bytes of a request")
	f.IntVar(&s.opt.Rows, "max-rows", 100_000, "most rows of a request")
	f.Var(&s.memory, "memory", "most memory that requests may take at a time, about; more are refused with status 503 (default 1GiB)")
	f.IntVar(&s.opt.Queue, "max-queue", 16_384, "most rows that wait; more are refused with status 503")
	f.DurationVar(&s.listen.Watch, "watch", time.Second, "how often to look whether files have changed (objects: 10s); 0: only on SIGHUP")
	f.DurationVar(&s.listen.Drain, "drain", 0, "on SIGTERM: time between failing readiness and the end of listening")
	f.DurationVar(&s.listen.Finish, "finish", 30*time.Second, "on SIGTERM: time that requests have to end")
	f.StringVar(&s.tokens, "token-file", "", "file with a token a line, of which requests must have one (Authorization: Bearer TOKEN)")
	f.StringVar(&s.cert, "tls-cert", "", "file of the TLS certificate, read again when it changes")
	f.StringVar(&s.key, "tls-key", "", "file of its private key")
	f.StringVar(&s.clientCA, "tls-client-ca", "", "file of certificates of which a client's must be signed by one (mutual TLS), read again when it changes")
	f.StringArrayVar(&s.backgrounds, "background", nil, "file of rows with which the contributions of /predict?explain=1 compare, or MODEL=FILE for one "+
		"model (default: four rows made from the means and deviations of the training)")
	f.StringArrayVar(&s.routes, "route", nil, "NAME=MODEL[/VERSION][:SHARE],…: which models answer for a name; one is an alias, "+
		"of several each has its share of the requests")
	f.StringArrayVar(&s.shadows, "shadow", nil, "NAME=MODEL[/VERSION]: a model that computes the requests for a name too, to compare in the metrics")
	f.StringSliceVar(&s.opt.Origins, "cors", nil, "origins whose web pages may send requests; * for all")
	f.BoolVar(&s.opt.Control, "allow-model-control", false, "let clients load and unload models by the repository API")
	f.BoolVar(&s.opt.Profile, "pprof", false, "show profiles under /debug/pprof/")
	f.StringVar(&s.log, "log", "json", "a line for each request on standard error: json, text, or none")
	return cmd
}

func (s *serving) run(cmd *cobra.Command, args []string) error {
	switch {
	case s.demo == (len(args) == 1):
		return usagef("give a model or a folder of models, or --demo")
	case (s.cert == "") != (s.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case s.clientCA != "" && s.cert == "":
		return usagef("--tls-client-ca needs --tls-cert and --tls-key")
	case s.opt.Timeout <= 0 || s.opt.Body < 1 || s.opt.Rows < 1 || s.opt.Queue < 1:
		return usagef("--timeout, --max-body, --max-rows and --max-queue must be positive")
	case s.listen.Watch < 0 || s.listen.Drain < 0 || s.listen.Finish <= 0:
		return usagef("--watch and --drain must not be negative, and --finish positive")
	}
	var err error
	if s.opt.Log, err = logger(s.log, cmd.ErrOrStderr()); err != nil {
		return err
	}
	s.opt.Memory = int64(s.memory)
	if s.tokens != "" {
		if s.opt.Tokens, err = readTokens(s.tokens); err != nil {
			return err
		}
	}
	if s.cert != "" {
		files := &tlsFiles{paths: []string{s.cert, s.key, s.clientCA}, log: s.opt.Log}
		if s.clientCA == "" {
			files.paths = files.paths[:2]
		}
		if s.listen.TLS, err = files.config(nil); err != nil {
			return err
		}
		s.listen.TLS = s.listen.TLS.Clone()
		s.listen.TLS.GetConfigForClient = files.config
	}
	if s.opt.Backgrounds, err = backgrounds(s.backgrounds); err != nil {
		return err
	}
	if err = s.routing(); err != nil {
		return err
	}
	models, err := s.models(cmd, args)
	if err != nil {
		return err
	}
	handler := serve.Handler(models, s.opt)
	if err := handler.Check(); err != nil {
		return err
	}
	if s.listen.Listener, err = net.Listen("tcp", s.addr); err != nil {
		return err
	}
	scheme := "http"
	if s.cert != "" {
		scheme = "https"
	}
	at := s.listen.Listener.Addr().(*net.TCPAddr)
	fmt.Fprintf(cmd.OutOrStdout(), "serving %s on %s://%s\n", strings.Join(models.Names(), ", "), scheme, at)
	if !at.IP.IsLoopback() && s.tokens == "" && s.clientCA == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "mercer serve: anybody who reaches this address may ask; --token-file or --tls-client-ca keep others out")
	}
	return handler.Serve(cmd.Context(), s.listen)
}

func (s *serving) models(cmd *cobra.Command, args []string) (*serve.Models, error) {
	if !s.demo {
		if remote.Is(args[0]) && !cmd.Flags().Changed("watch") {
			s.listen.Watch = watchObjects // every look is a request for each model
		}
		return serve.Open(args[0])
	}
	m, err := demoModel(cmd.Context())
	if err != nil {
		return nil, err
	}
	return serve.In("digits", m)
}

// routing reads --route and --shadow.
func (s *serving) routing() error {
	s.opt.Routes, s.opt.Shadows = map[string][]serve.Target{}, map[string]serve.Target{}
	read := func(flag, text string) (string, []serve.Target, error) {
		name, to, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return "", nil, usagef("--%s %s: expected NAME=MODEL", flag, text)
		}
		targets, err := serve.ParseTargets(to)
		if err != nil {
			return "", nil, usagef("--%s %s: %v", flag, text, err)
		}
		return name, targets, nil
	}
	for _, text := range s.routes {
		name, targets, err := read("route", text)
		if err != nil {
			return err
		}
		if s.opt.Routes[name] != nil {
			return usagef("--route %s: there is another route for %s; give all targets in one", text, name)
		}
		s.opt.Routes[name] = targets
	}
	for _, text := range s.shadows {
		name, targets, err := read("shadow", text)
		if err != nil {
			return err
		}
		if _, twice := s.opt.Shadows[name]; twice || len(targets) > 1 {
			return usagef("--shadow %s: a name has one shadow", text)
		}
		s.opt.Shadows[name] = targets[0]
	}
	return nil
}

// backgrounds are files by the names of models.
func backgrounds(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range given {
		name, file, ok := strings.Cut(text, "=")
		if _, err := os.Stat(text); !ok || err == nil {
			name, file = "", text
		}
		if _, twice := all[name]; twice {
			return nil, usagef("--background %s: there is another file for the same models", text)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
		all[name] = file
	}
	return all, nil
}

func logger(form string, w io.Writer) (*slog.Logger, error) {
	switch form {
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "none":
		return nil, nil
	}
	return nil, usagef("--log %q is not known; known are json, text, none", form)
}

// readTokens reads a file with a token a line.
func readTokens(path string) (tokens []string, err error) {
	data, err := readBounded(path, 1<<20)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if t := strings.TrimSpace(line); t != "" && !strings.HasPrefix(t, "#") {
			tokens = append(tokens, t)
		}
	}
	if tokens == nil {
		return nil, fmt.Errorf("%s has no tokens", path)
	}
	return tokens, nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, err
}
