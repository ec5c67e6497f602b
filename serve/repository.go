package serve

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The extension of the Open Inference Protocol for repositories of models: index, load and unload, over REST and gRPC.

var errControl = &httpError{http.StatusForbidden, errors.New("clients may not load and unload models; start the server with model control")}

// listing is a model of the index.
type listing struct{ name, version, state, reason string }

// listings are the models that are served, and, unless only those are wanted, the ones that could not be loaded or were unloaded. The reason
// of one that is served says why a newer file is not.
func (s *Models) listings(ready bool) (all []listing) {
	t := s.now.Load()
	for _, name := range t.names {
		for _, v := range t.byName[name] {
			all = append(all, listing{v.name, v.version, "READY", t.faults[v.file].text})
		}
	}
	if ready {
		return all
	}
	for _, file := range slices.Sorted(maps.Keys(t.faults)) {
		if f := t.faults[file]; t.version(f.name, f.version) == nil {
			all = append(all, listing{f.name, f.version, "UNAVAILABLE", f.text})
		}
	}
	for _, p := range t.hidden {
		all = append(all, listing{p.name, p.version, "UNAVAILABLE", "unloaded"})
	}
	return all
}

// index lists the models of the repository.
func (c *call) index() error {
	ready := false
	p := parser{data: c.body}
	if p.next() != 0 { // an empty body asks for all
		err := p.object(func(key []byte) (err error) {
			if string(key) != "ready" {
				return p.skip()
			}
			ready, err = p.boolean()
			return err
		})
		if err == nil {
			err = p.end()
		}
		if err != nil {
			return err
		}
	}
	out := []byte{'['}
	for i, l := range c.models.listings(ready) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(append(out, `{"name":`...), l.name)
		out = appendText(append(out, `,"version":`...), l.version)
		out = appendText(append(out, `,"state":`...), l.state)
		out = append(appendText(append(out, `,"reason":`...), l.reason), '}')
	}
	return c.json(append(out, "]\n"...))
}

func (c *call) loadModel() error {
	if err := c.models.show(c.ctx, c.r.PathValue("name")); err != nil {
		return err
	}
	return c.json([]byte("{}\n"))
}

func (c *call) unloadModel() error {
	if err := c.models.unload(c.ctx, c.r.PathValue("name")); err != nil {
		return err
	}
	return c.json([]byte("{}\n"))
}

func (c *call) grpcIndex(in []byte) (out []byte, err error) {
	ready := false
	err = fields(in, func(n protowire.Number, _ protowire.Type, bits uint64, _ []byte) error {
		ready = ready || n == 2 && bits != 0
		return nil
	})
	for _, l := range c.models.listings(ready) {
		out = appendBytes(out, 1, appendString(appendString(appendString(appendString(nil, 1, l.name), 2, l.version), 3, l.state), 4, l.reason))
	}
	return out, err
}

func (c *call) grpcLoad(in []byte) ([]byte, error) { return c.grpcControl(in, c.models.show) }

func (c *call) grpcUnload(in []byte) ([]byte, error) { return c.grpcControl(in, c.models.unload) }

// grpcControl loads or unloads a model. Its name is field 2 in Triton's messages, and 1 in KServe's, whose answers have name (1) and whether it is
// done (2) where Triton's are empty.
func (c *call) grpcControl(in []byte, do func(ctx context.Context, name string) error) ([]byte, error) {
	if !c.opt.Control {
		return nil, errControl
	}
	first, second, err := readNames(in)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(second, first)
	if err := do(c.ctx, name); err != nil {
		return nil, err
	}
	return appendBool(appendString(nil, 1, name), 2, true), nil
}
