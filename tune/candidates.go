package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mercer/feature"
	"mercer/internal/random"
	"mercer/kernel"
	"mercer/train"
)

// mostCandidates is how many points a grid may have.
const mostCandidates = 10000

// combinations are the configurations that a search tries.
type combinations struct {
	trials []*Candidate
	seen   map[string]bool
	used   map[string]bool // settings that some candidate has
	wrong  int             // combinations that cannot be, and why the first cannot
	why    error
}

// grid are all combinations of the axes that make sense.
func (s Space) grid() (*combinations, error) {
	c := newCombinations()
	if all := s.walk(c, func() bool { return len(c.trials) <= mostCandidates }); !all {
		return nil, fmt.Errorf("the grid has more than %d points; give fewer values, or search it at random with a number of trials", mostCandidates)
	}
	return c, c.check(s)
}

// first is a combination to look at the data with: the first that has a map, or the first that can be.
func (s Space) first() (train.Config, error) {
	c := newCombinations()
	mapped := func() bool {
		if len(c.trials) == 0 {
			return false
		}
		exact, _ := train.Exact(c.trials[len(c.trials)-1].Config.Learner)
		return !exact
	}
	s.walk(c, func() bool { return !mapped() })
	switch {
	case len(c.trials) == 0:
		return train.Config{}, c.check(s)
	case mapped():
		return c.trials[len(c.trials)-1].Config, nil
	}
	return c.trials[0].Config, nil
}

// Check says why no combination of the values can be trained, whatever the rows are.
func (s Space) Check() error {
	_, err := s.first()
	return err
}

// walk adds one combination of the axes after the other, the values of the last axis first, as long
// as more says so, and says whether that were all.
func (s Space) walk(c *combinations, more func() bool) (all bool) {
	at := make([]int, len(s.Axes))
	for range 100 * mostCandidates {
		values := map[string]string{}
		for i, a := range s.Axes {
			values[a.Name] = a.Values[at[i]]
		}
		if c.add(s, values); !more() {
			return false
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(s.Axes[i].Values) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return true
		}
	}
	return false
}

// random are n different points of the space.
func (s Space) random(n int, seed uint64) (*combinations, error) {
	c := newCombinations()
	stream := random.New(seed, "tune-random")
	for range 100 * n {
		if len(c.trials) == n {
			break
		}
		values := map[string]string{}
		for i := range s.Axes {
			values[s.Axes[i].Name] = s.Axes[i].draw(stream)
		}
		c.add(s, values)
	}
	return c, c.check(s)
}

func newCombinations() *combinations {
	return &combinations{seen: map[string]bool{}, used: map[string]bool{}}
}

// add adds the configuration of some values, without those that say nothing to it, unless it
// is there or cannot be.
func (c *combinations) add(s Space, values map[string]string) {
	t := &Candidate{Index: len(c.trials), Values: map[string]string{}, Config: s.Base}
	// What decides which other settings there are comes first.
	names := []string{"kernel", "map", "learner"}
	for _, a := range s.Axes {
		if !slices.Contains(names[:3], a.Name) {
			names = append(names, a.Name)
		}
	}
	for _, name := range names {
		v, given := values[name]
		at := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name })
		if !given || !applies(&s.Axes[at], &t.Config) {
			continue
		}
		if err := set(&t.Config, name, v); err != nil {
			c.refuse(err)
			return
		}
		t.Values[name] = v
	}
	if t.Config.Kernel == "arccos" && t.Values["degree"] == "" && t.Config.Degree == 0 {
		t.Config.Degree = 1
	}
	if strings.HasPrefix(t.Config.Kernel, "skewed-") && t.Values["coef0"] != "" && t.Config.Coef0 == 0 { // 0 of a configuration is its default
		c.refuse(fmt.Errorf("coef0 is 0; c of %s is a positive number", t.Config.Kernel))
		return
	}
	if err := t.Config.Check(); err != nil {
		c.refuse(err)
		return
	}
	key, err := json.Marshal(t.Config)
	if err != nil {
		c.refuse(err)
		return
	}
	if c.seen[string(key)] {
		return
	}
	c.seen[string(key)] = true
	for name := range t.Values {
		c.used[name] = true
	}
	c.trials = append(c.trials, t)
}

func (c *combinations) refuse(err error) {
	if c.wrong++; c.why == nil {
		c.why = err
	}
}

// check finds axes that no configuration has a use for.
func (c *combinations) check(s Space) error {
	if len(c.trials) == 0 {
		if c.why != nil {
			return fmt.Errorf("no combination of the values can be trained: %w", c.why)
		}
		return errors.New("the space is empty")
	}
	for _, a := range s.Axes {
		if !c.used[a.Name] && a.learners == nil {
			if c.why != nil {
				return fmt.Errorf("no combination that can be trained has a use for the setting %s: %w", a.Name, c.why)
			}
			return fmt.Errorf("no combination of the values has a use for the setting %s; leave it out, or add a kernel, a map or a learner that has", a.Name)
		}
	}
	return nil
}

// applies says whether a configuration whose kernel, map and learner are known has a use for
// a setting.
func applies(a *Axis, c *train.Config) bool {
	if a.learners != nil && !slices.Contains(a.learners, c.Learner) {
		return false
	}
	name := a.Name
	k := strings.ToLower(c.Kernel)
	if k == "" {
		k = "rbf"
	}
	exact, own := train.Exact(c.Learner)
	switch {
	case name == "sigma":
		return kernel.Has(k, "gamma")
	case slices.Contains([]string{"gamma", "degree", "coef0", "nu", "homogeneity"}, name):
		return kernel.Has(k, name) || name == "degree" && k == "arccos"
	case name == "map":
		return !exact
	case name == "components" || name == "variance_share" || name == "whiten":
		return !exact
	case name == "map_components":
		return c.Map == "sum"
	}
	if has, common := train.HasOption(c.Learner, name); !common {
		return has
	}
	ofMap := name == "features" || slices.Contains(mapSettings(), name)
	switch {
	case !ofMap:
		return true
	case exact:
		return slices.Contains(own, name)
	case k == "linear" && c.Map == "":
		return false
	case name == "features" || c.Map == "" || c.Steps != nil:
		return true
	}
	return slices.Contains(feature.OptionsOf(c.Map), name)
}

// mapSettings are the settings of single maps.
var mapSettings = sync.OnceValue(func() (names []string) {
	known, _ := feature.Names()
	for _, m := range known {
		names = append(names, feature.OptionsOf(m)...)
	}
	return names
})

// What is searched where nothing is said about it: γ around that of the median distance, which is
// right to a factor of a few on most data, and the whole path of λ or C, which costs little.
var (
	usualGamma  = Axis{Name: "gamma", Values: []string{"median*0.0625", "median*0.25", "median", "median*4", "median*16"}}
	usualLambda = Axis{Name: "lambda", Values: []string{"trace*1e-06", "trace*1e-05", "trace*0.0001", "trace*0.001", "trace*0.01", "trace*0.1", "trace*1"}, learners: []string{"ridge"}}
	usualC      = Axis{Name: "c", Values: []string{"0.01", "0.1", "1", "10", "100"}, learners: []string{"svm", "svr", "logistic", "kernel-svm"}}
)

// withDefaults adds the axes of the default space for what the base does not say, and makes
// "auto" the learner that it stands for.
func (s Space) withDefaults(learner, task string) Space {
	has := func(name string) bool {
		return slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Name == name })
	}
	b := &s.Base
	s.Axes = slices.Clone(s.Axes)
	if b.Learner == "" || b.Learner == "auto" {
		b.Learner = learner
	}
	for i, a := range s.Axes {
		if a.Name == "learner" {
			s.Axes[i].Values = slices.Clone(a.Values)
			for j, v := range a.Values {
				if v == "auto" {
					s.Axes[i].Values[j] = learner
				}
			}
		}
	}
	kernels := []string{b.Kernel}
	if at := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == "kernel" }); at >= 0 {
		kernels = s.Axes[at].Values
	}
	some := slices.ContainsFunc(kernels, func(k string) bool { return k == "" || kernel.Has(k, "gamma") })
	if !has("gamma") && !has("sigma") && (b.Gamma == "" || b.Gamma == "median") && b.Sigma == 0 && b.Steps == nil && some {
		s.Axes = append(s.Axes, usualGamma)
	}
	if !has("lambda") && b.Lambda == 0 && b.LambdaBy == "" && !b.Path && !b.Variance {
		s.Axes = append(s.Axes, usualLambda)
	}
	if !has("c") && b.C == 0 {
		c := usualC
		if task == "classify" && (has("svm_nu") || b.SVMNu != 0) { // ν takes its place
			c.learners = slices.DeleteFunc(slices.Clone(c.learners), func(l string) bool { return l == "kernel-svm" })
		}
		s.Axes = append(s.Axes, c)
	}
	return s
}
