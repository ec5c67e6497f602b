package dataset

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"mercer/internal/engine/option"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// folder is a set of bags, each a file below one path.
type folder struct {
	path   string
	opt    Options // for each file
	schema Schema
	files  []string // relative to path, sorted
	labels []string // one per file, nil without
	batch  int
	ledger *ledger // since each pass opens the files
}

func openFolder(ctx context.Context, path string, opt Options) (*BagFile, error) {
	switch {
	case opt.Group != "":
		return nil, option.Errorf("%s: is a folder, of which each file is a bag; %s is for rows in one file", path, option.Ref("group"))
	case opt.Label != "" && opt.Label != "none" || opt.Weight != "":
		return nil, option.Errorf("%s: is a folder, of which each file is a bag without columns for %s or %s; labels are the names of the "+
			"folders that the files are in, or come from %s",
			path, option.Ref("label"), option.Ref("weight"), option.Set("labels_file", "FILE"))
	case opt.Missing == "mean":
		return nil, option.Errorf("%s: %s needs all rows in one file; use %s", path, option.Set("missing", "mean"), option.Set("missing", "zero"))
	}
	d := &folder{path: path, opt: opt, batch: opt.BatchRows}
	d.opt.Label, d.opt.LabelsFile, d.opt.within = "none", "", "file"
	named := opt.Label != "none" && opt.LabelsFile == ""
	if err := d.list(opt.LabelsFile, named); err != nil {
		return nil, err
	}
	ctx, _ = Steady(ctx)
	d.ledger = ledgerOf(ctx)
	if err := d.ledger.sameFiles(path, d.files); err != nil {
		return nil, err
	}
	if err := d.fix(ctx); err != nil {
		return nil, err
	}
	var bags Bags = d
	if opt.LabelsFile != "" {
		var err error
		if bags, err = withBagLabels(ctx, d, opt, true); err != nil {
			return nil, err
		}
	}
	return &BagFile{Bags: bags}, nil
}

// list finds the files other than the one of labels. named reports that folders are labels.
func (d *folder) list(labels string, named bool) error {
	var flat string // a file that is not in a folder
	notThis, _ := os.Stat(labels)
	err := filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != d.path && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		if st, err := os.Stat(path); err == nil && notThis != nil && os.SameFile(st, notThis) {
			return nil
		}
		name, err := filepath.Rel(d.path, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		d.files = append(d.files, name)
		label := filepath.Base(filepath.Dir(path))
		if !strings.Contains(name, "/") {
			flat, label = name, ""
		}
		d.labels = append(d.labels, label)
		return nil
	})
	if err != nil {
		return err
	}
	if len(d.files) == 0 {
		return fmt.Errorf("%s: there is no file in this folder; each file in it is a bag", d.path)
	}
	if flat == "" && named {
		return nil
	}
	for i, label := range d.labels {
		if label != "" && named {
			return option.Errorf("%s: %s is in a folder, whose name would be its label, but %s is in none; put all into folders, or none and use %s",
				d.path, d.files[i], flat, option.Set("labels_file", "FILE"))
		}
	}
	d.labels = nil
	return nil
}

// fix sets the layout of members: the model's, or that of the first file.
func (d *folder) fix(ctx context.Context) error {
	if m := d.opt.Schema; m != nil {
		own := *m
		own.Group, own.Weight = nil, nil
		d.opt.Schema = &own
	}
	f, err := d.open(ctx, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	d.schema = *f.Schema()
	d.schema.Labels = nil
	if d.opt.Schema != nil {
		return nil
	}
	if hasCategories(&d.schema) {
		return option.Errorf("%s: column %q holds text, whose values a single file does not tell; with a file for each bag, columns hold "+
			"numbers (or put all rows in one file, with %s)",
			f.Name(), firstCategorical(&d.schema), option.Ref("group"))
	}
	if d.schema.Format == "libsvm" {
		d.opt.Format, d.opt.Base = "libsvm", fmt.Sprint(d.schema.Base)
		return nil
	}
	// The other files have to be like the first.
	like := d.schema
	d.opt.Schema, d.opt.like = &like, d.files[0]
	return nil
}

// open opens file i.
func (d *folder) open(ctx context.Context, i int) (*File, error) {
	ctx = context.WithValue(ctx, steadyKey{}, d.ledger)
	return Open(ctx, filepath.Join(d.path, filepath.FromSlash(d.files[i])), d.opt)
}

func (d *folder) Name() string    { return d.path }
func (d *folder) Schema() *Schema { return &d.schema }

// Open implements Bags.
func (d *folder) Open(ctx context.Context) (BagReader, error) {
	ctx, cancel := context.WithCancel(ctx)
	// Several files are read at a time; their bags come in the order of their names.
	threads := vec.Threads()
	queue := make(chan chan *fileBag, threads-1)
	free := make(chan *collect, threads+1)
	for range cap(free) {
		free <- newCollect(d.path, 0)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(queue)
		for i := range d.files {
			var c *collect
			select {
			case c = <-free:
			case <-ctx.Done():
				return
			}
			done := make(chan *fileBag, 1)
			wait.Go(func() { done <- &fileBag{c, d.read(ctx, i, c)} })
			select {
			case queue <- done:
			case <-ctx.Done():
				return
			}
		}
	})
	c, at := newCollect(d.path, d.batch), 0
	r := &bagReader{collect: c}
	r.progress = func() float64 { return float64(at) / float64(len(d.files)) }
	r.close = func() error {
		cancel()
		wait.Wait()
		return nil
	}
	r.feed = func() error {
		done, ok := <-queue
		if !ok {
			return cmp.Or(ctx.Err(), io.EOF)
		}
		bag := <-done
		if bag.err != nil {
			return bag.err
		}
		bag.rows.end("", matrix.Batch{})
		if err := c.add(bag.rows.batch().X, filepath.Join(d.path, d.files[at])); err != nil {
			return err
		}
		bag.rows.restart()
		free <- bag.rows
		of := matrix.Batch{}
		if d.labels != nil {
			of = folderLabel(d.labels[at])
		}
		c.end(d.files[at], of)
		at++
		return nil
	}
	return r, nil
}

// fileBag is the rows of a file.
type fileBag struct {
	rows *collect
	err  error
}

// read adds the rows of file i.
func (d *folder) read(ctx context.Context, i int, c *collect) error {
	f, err := d.open(ctx, i)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := 0
	for b, err := range Each(ctx, f) {
		if err != nil {
			return err
		}
		if err := c.add(b.X, f.Name()); err != nil {
			return err
		}
		rows += b.X.Len()
	}
	if rows == 0 {
		return fmt.Errorf("%s: has no rows; each file in the folder is a bag of some", f.Name())
	}
	return nil
}

// folderLabel is the label that a name stands for: a number, or text.
func folderLabel(name string) matrix.Batch {
	if v, ok := parseNumber([]byte(name)); ok && !math.IsInf(v, 0) {
		return matrix.Batch{Outputs: 1, Y: []float64{v}}
	}
	return matrix.Batch{Outputs: 1, Y: []float64{math.NaN()}, Names: []string{name}}
}
