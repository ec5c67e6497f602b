package train

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"mercer/internal/engine/option"
	"mercer/internal/solve/learn"
	"mercer/model"
)

// KMeans are the options of k-means on features, which is k-means in the kernel's feature space; on principal components it is spectral
// clustering. The model's classes are the clusters, "1", "2", …, the largest first.
type KMeans struct {
	// Clusters is their number, 2 or more; 0 means 8.
	Clusters int `json:"clusters,omitempty" range:"positive"`

	// Starts is how many times seeds are drawn, the best being kept; 0 means 4.
	Starts int `json:"starts,omitempty" range:"positive"`

	// MaxIter bounds the iterations of a start; 0 means 100.
	MaxIter int `json:"max_iter,omitempty" range:"positive"`
}

func (KMeans) learner() string { return "kmeans" }

// clustering is the task of learners that find groups of rows, whose labels play no part.
const clustering = "cluster"

// kmeansLearner finds clusters.
var kmeansLearner = Traits{
	name:    KMeans{}.learner(),
	tasks:   []string{clustering},
	options: KMeans{},
	help: map[string]*option.Phrase{
		"clusters": option.Phrasef("number of clusters (default 8)"),
		"starts":   option.Phrasef("how many times kmeans draws seeds, of which the best are kept (default 4)"),
	},
	check:  checked((*KMeans).check),
	memory: (*job).iteratedMemory,
	train:  (*job).kmeans,
}

func (o *KMeans) check(c *Config) error {
	if o.Clusters == 0 {
		o.Clusters = 8
	}
	switch {
	case o.Clusters == 1 || o.Clusters > 1<<16:
		return fmt.Errorf("clusters %d: give 2 to %d", o.Clusters, 1<<16)
	case c.calibrates():
		return errors.New("clusters have no probabilities; leave out calibrate")
	case c.Threshold != "":
		return errors.New("clusters have no threshold; leave it out")
	case c.ClassWeight != "":
		return errors.New("class weights are for classes; clusters go by no labels")
	case c.Reduce.Discriminates():
		return errors.New("discriminants tell classes apart, and clusters go by no labels; take principal components")
	}
	return nil
}

// clusters says that it finds clusters, for which rows need no labels.
func (c *Config) clusters() bool {
	l := c.Traits()
	return l != nil && l.tasks[0] == clustering
}

// clusters are the answers of a model of clusters, which are its classes. Labels play no part in it.
func (f *surveyed) clusters() (a answers, err error) {
	k := f.cfg.Learner.(KMeans).Clusters
	if n := f.sum.Rows; n < k {
		return a, f.located(fmt.Errorf("%d clusters of %d rows; ask for fewer", k, n))
	}
	a = answers{task: "classify", outputs: learn.TargetColumns(k)}
	for t := range k {
		a.names = append(a.names, strconv.Itoa(t+1))
	}
	f.why["task"] = "the classes are the clusters"
	return a, nil
}

// kmeans maps all rows and finds their clusters.
func (f *job) kmeans() (*solution, error) {
	all, err := f.gatherFeatures()
	if err != nil {
		return nil, err
	}
	defer all.close()
	defer timed(&f.report.Solve)()
	o := f.cfg.Learner.(KMeans)
	f.progress("solve", 0, 0)
	linear, report, err := learn.FitKMeans(f.ctx, all.z, all.weights, learn.KMeans{
		Clusters: o.Clusters, Starts: o.Starts, MaxIter: o.MaxIter, Seed: f.cfg.Seed,
		Progress: func(starts int) { f.progress("solve", starts*f.sum.Rows, float64(starts)/float64(cmp.Or(o.Starts, 4))) },
	})
	if err != nil {
		return nil, f.located(err)
	}
	return &solution{predictor: model.Linear{Linear: linear}, report: report}, nil
}
