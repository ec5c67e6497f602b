package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mercer/internal/engine/remote"
	"mercer/model"
)

// Models are the models that a server serves, by name and version. Files are read again when they change, and on Reload; a
// file that cannot be read leaves the model that was there. They are safe for concurrent use.
type Models struct {
	path   string // a file or folder; "" for models in memory
	now    atomic.Pointer[table]
	mu     sync.Mutex // of loading
	hidden map[string]bool
	opt    Options

	loads, failures atomic.Int64
}

// table is a state of Models, which does not change.
type table struct {
	byName map[string][]*served // versions, the one that is served by default last
	names  []string
	faults map[string]fault // files that could not be loaded
	hidden []place          // files of models that were unloaded
}

// fault is a file that could not be loaded, as it was then, and why.
type fault struct {
	place
	seen seen
	text string
}

// served is a version of a model.
type served struct {
	name, version string
	file          string
	seen          seen // when it was loaded
	model         *model.Model
	gather        *gatherer
	inputs        sync.Pool // of *input: what many or large requests took is not kept for ever
	meters        *meters
	back          background
	backFile      string // "": none
}

// seen is a file as it was at a time, and the zero value one that was not there.
type seen struct {
	info    os.FileInfo
	version string // of an object of a store
}

// look looks at a file.
func look(ctx context.Context, file string) (seen, error) {
	if !remote.Is(file) {
		info, err := os.Stat(file)
		return seen{info: info}, err
	}
	o, err := remote.Open(ctx, file)
	if err != nil {
		return seen{}, err
	}
	return seen{version: fmt.Sprintf("%s of %d bytes", o.Version(), o.Size())}, o.Close()
}

// unchanged tells whether a file is what it was. Size and time do not suffice: models of one configuration often have one
// size, and copies that keep times, or unpacked images, one time.
func (s seen) unchanged(now seen) bool {
	if s.info == nil || now.info == nil {
		return s.info == now.info && s.version == now.version && s.version != ""
	}
	return os.SameFile(s.info, now.info) && s.info.Size() == now.info.Size() && s.info.ModTime().Equal(now.info.ModTime())
}

// In makes Models of one model in memory.
func In(name string, m *model.Model) (*Models, error) {
	if m == nil {
		return nil, errors.New("serve: the model is nil; train one or load one")
	}
	s := &Models{hidden: map[string]bool{}}
	s.now.Store(&table{byName: map[string][]*served{name: {{name: name, version: "1", model: m}}}, names: []string{name}})
	if m.Bag() != nil {
		return nil, fmt.Errorf("serve: the model %s predicts bags; only models of rows are served", name)
	}
	return s, nil
}

// Open loads the model of a file, whose name without extension is the model's, or all models of a folder: FOLDER/NAME.mercer,
// versions of a model as FOLDER/NAME/VERSION.mercer or FOLDER/NAME/VERSION/ANY.mercer. The version with the
// largest number, or else the last by name, is the default. path may be s3://BUCKET/KEY of such a file or folder, in a program that
// imports mercer/dataset/fetch. It fails if a file cannot be loaded.
func Open(path string) (*Models, error) {
	s := &Models{path: path, hidden: map[string]bool{}}
	s.now.Store(&table{})
	if err := s.Reload(context.Background()); err != nil {
		return nil, err
	}
	if len(s.now.Load().names) == 0 {
		return nil, fmt.Errorf("%s has no models: expected NAME.mercer or NAME/VERSION.mercer", path)
	}
	return s, nil
}

// place is a file with the name and version of its model.
type place struct{ name, version, file string }

// mostObjects bounds those of a folder of an object store.
const mostObjects = 10_000

// objects lists the objects of models.
func (s *Models) objects(ctx context.Context) (all []place, err error) {
	files, err := remote.List(ctx, s.path, mostObjects)
	if err != nil {
		return nil, err
	}
	if files == nil {
		return []place{{strings.TrimSuffix(path.Base(s.path), path.Ext(s.path)), "1", s.path}}, nil
	}
	for _, file := range files {
		name, ok := strings.CutSuffix(strings.TrimPrefix(file, strings.TrimRight(s.path, "/")+"/"), ".mercer")
		parts := strings.Split(name, "/")
		if !ok || slices.ContainsFunc(parts, func(part string) bool { return part == "" || part[0] == '.' }) {
			continue
		}
		version := "1"
		if len(parts) > 1 {
			version = parts[1]
		}
		again := slices.ContainsFunc(all, func(p place) bool { return p.name == parts[0] && p.version == version })
		if len(parts) < 3 || len(parts) == 3 && !again {
			all = append(all, place{parts[0], version, file})
		}
	}
	return all, nil
}

// places lists the files of models.
func (s *Models) places(ctx context.Context) ([]place, error) {
	if remote.Is(s.path) {
		return s.objects(ctx)
	}
	st, err := os.Stat(s.path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return []place{{strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path)), "1", s.path}}, nil
	}
	var all []place
	base := func(e fs.DirEntry) (string, bool) {
		name, ok := strings.CutSuffix(e.Name(), ".mercer")
		return name, ok && name != "" && !strings.HasPrefix(name, ".")
	}
	top, err := os.ReadDir(s.path)
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		at := filepath.Join(s.path, e.Name())
		if name, ok := base(e); ok && !isFolder(at) {
			all = append(all, place{name, "1", at})
			continue
		}
		if strings.HasPrefix(e.Name(), ".") || !isFolder(at) {
			continue
		}
		versions, err := os.ReadDir(at)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			file := filepath.Join(at, v.Name())
			if version, ok := base(v); ok && !isFolder(file) {
				all = append(all, place{e.Name(), version, file})
			} else if isFolder(file) && !strings.HasPrefix(v.Name(), ".") {
				inside, err := os.ReadDir(file)
				if err != nil {
					return nil, err
				}
				first := slices.IndexFunc(inside, func(e fs.DirEntry) bool { _, ok := base(e); return ok })
				if first >= 0 {
					all = append(all, place{e.Name(), v.Name(), filepath.Join(file, inside[first].Name())})
				}
			}
		}
	}
	return all, nil
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// Reload reads files that have changed since they were loaded, and those that are new; models whose files are gone are
// served no longer, unless there would be none. It returns the errors of files that could not be loaded, whose old models
// stay.
func (s *Models) Reload(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(ctx, true)
}

// load is Reload; files that could not be loaded are read again if they have changed, or if all is set.
func (s *Models) load(ctx context.Context, all bool) error {
	if s.path == "" {
		return nil
	}
	places, err := s.places(ctx)
	if err != nil {
		return err
	}
	old := s.now.Load()
	next := &table{byName: map[string][]*served{}, faults: map[string]fault{}}
	var failed []error
	changed := false
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.hidden[p.name] {
			next.hidden = append(next.hidden, p)
			continue
		}
		before := old.version(p.name, p.version)
		now, err := look(ctx, p.file)
		if err == nil {
			if before != nil && before.file == p.file && before.seen.unchanged(now) {
				next.add(before)
				continue
			}
			if f, failed := old.faults[p.file]; failed && !all && f.seen.unchanged(now) {
				next.faults[p.file] = f
				if before != nil {
					next.add(before)
				}
				continue
			}
			var m *model.Model
			if m, err = model.Load(p.file); err == nil && m.Bag() != nil {
				err = fmt.Errorf("%s predicts bags; only models of rows are served", p.file)
			}
			if err == nil {
				changed = true
				s.loads.Add(1)
				next.add(s.prepared(&served{name: p.name, version: p.version, file: p.file, seen: now, model: m}))
				continue
			}
		}
		next.faults[p.file] = fault{p, now, err.Error()}
		if old.faults[p.file].text != err.Error() {
			s.failures.Add(1)
			failed = append(failed, err)
		}
		if before != nil {
			next.add(before)
		}
	}
	if len(next.byName) == 0 && len(old.byName) > 0 && len(s.hidden) == 0 {
		failed = append(failed, fmt.Errorf("%s has no models any more; the old ones stay", s.path))
		return errors.Join(failed...)
	}
	next.sort()
	if changed || len(failed) > 0 || !maps.EqualFunc(next.byName, old.byName, slices.Equal[[]*served]) ||
		!maps.EqualFunc(next.faults, old.faults, func(a, b fault) bool { return a == b }) {
		s.now.Store(next)
	}
	return errors.Join(failed...)
}

// prepared gives a version what it needs to compute.
func (s *Models) prepared(v *served) *served {
	if s.opt.places > 0 {
		v.meters = s.opt.meters.of(v)
		var own bool
		if v.backFile, own = s.opt.Backgrounds[v.name]; !own {
			v.backFile = s.opt.Backgrounds[""]
		}
		v.gather = newGatherer(v.model.Learned, s.opt.places, s.opt.Queue, v.meters)
	}
	return v
}

// adopt sets the options of the server that serves the models.
func (s *Models) adopt(opt Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt = opt
	for _, versions := range s.now.Load().byName {
		for _, v := range versions {
			s.prepared(v)
		}
	}
}

func (t *table) add(v *served) { t.byName[v.name] = append(t.byName[v.name], v) }

// sort puts versions in order: numbers by value, other names before them by their bytes.
func (t *table) sort() {
	for name, versions := range t.byName {
		t.names = append(t.names, name)
		slices.SortFunc(versions, func(a, b *served) int {
			x, errX := strconv.ParseUint(a.version, 10, 64)
			y, errY := strconv.ParseUint(b.version, 10, 64)
			if errX == nil && errY == nil {
				return cmp.Compare(x, y)
			}
			if (errX == nil) != (errY == nil) {
				if errX == nil {
					return 1
				}
				return -1
			}
			return strings.Compare(a.version, b.version)
		})
	}
	slices.Sort(t.names)
}

func (t *table) version(name, version string) *served {
	for _, v := range t.byName[name] {
		if v.version == version {
			return v
		}
	}
	return nil
}

// notFound is the error of a model that is not served.
type notFound struct{ text string }

func (e *notFound) Error() string { return e.text }

// find returns a version of a model, "" for the default; and with name "" the only model there is.
func (s *Models) find(name, version string) (*served, error) {
	t := s.now.Load()
	if name == "" {
		if len(t.names) != 1 {
			return nil, &notFound{fmt.Sprintf("there are %d models (%s); say which in the path", len(t.names), listed(t.names))}
		}
		name = t.names[0]
	}
	versions := t.byName[name]
	if len(versions) == 0 {
		return nil, &notFound{fmt.Sprintf("no model %q; there are %s", name, listed(t.names))}
	}
	if version == "" {
		return versions[len(versions)-1], nil
	}
	if v := t.version(name, version); v != nil {
		return v, nil
	}
	return nil, &notFound{fmt.Sprintf("no version %q of the model %q", version, name)}
}

func listed(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// unload hides a model until it is loaded again.
func (s *Models) unload(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now.Load().byName[name]) == 0 {
		return &notFound{fmt.Sprintf("no model %q", name)}
	}
	return s.control(ctx, name, true)
}

// show loads a model again that was unloaded, or whose file has changed. Its name is looked for among those of the folder.
func (s *Models) show(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.places(ctx)
	if err != nil && s.path != "" {
		return err
	}
	if s.path != "" && !slices.ContainsFunc(all, func(p place) bool { return p.name == name }) {
		return &notFound{fmt.Sprintf("no model %q among the files", name)}
	}
	return s.control(ctx, name, false)
}

// control hides a model or shows it. What is wrong with the files of others is only logged.
func (s *Models) control(ctx context.Context, name string, hide bool) error {
	if s.path == "" {
		return badf("the model %q is not of a file, so that it can be neither loaded nor unloaded", name)
	}
	if hide {
		s.hidden[name] = true
	} else {
		delete(s.hidden, name)
	}
	err := s.load(ctx, true)
	var own []error
	for _, f := range s.now.Load().faults {
		if f.name == name {
			own = append(own, errors.New(f.text))
		}
	}
	if err != nil && own == nil && s.opt.Log != nil {
		s.opt.Log.Error("models are not reloaded; the old ones stay", "error", err.Error())
	}
	return errors.Join(own...)
}

// watch reloads until ctx is done: every period in which a file changes, and when asked.
func (s *Models) watch(ctx context.Context, period time.Duration, asked <-chan os.Signal, log *slog.Logger) {
	var ticks <-chan time.Time
	if period > 0 {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		all := false
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-asked:
			all = true
		}
		before := s.loads.Load()
		s.mu.Lock()
		err := s.load(ctx, all)
		s.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			log.Error("models are not reloaded; the old ones stay", "error", err.Error())
		}
		if n := s.loads.Load() - before; n > 0 {
			log.Info("models reloaded", "files", n)
		}
	}
}

// Names are those of the models that are served now.
func (s *Models) Names() []string { return slices.Clone(s.now.Load().names) }
