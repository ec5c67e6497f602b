package search

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/train"
)

// mostCandidates is the largest size of a grid.
const mostCandidates = 10000

// combinations are the configurations that a search tries.
type combinations struct {
	trials []*Candidate
	seen   map[string]bool
	used   map[string]bool // settings that some candidate has
	wrong  int             // invalid combinations, and why the first is invalid
	why    error
}

// grid returns all combinations of the axes that make sense.
func (s Space) grid() (*combinations, error) {
	c, tried := newCombinations(), 0
	for values := range s.points {
		c.add(s, values)
		if tried++; len(c.trials) > mostCandidates || tried > 100*mostCandidates {
			return nil, fmt.Errorf("the grid has more than %d points; give fewer values, or search it at random with a number of trials",
				mostCandidates)
		}
	}
	return c, c.check(s)
}

// first is a combination to survey the data with: the first with a map, or the first valid one.
func (s Space) first() (train.Config, error) {
	c, tried := newCombinations(), 0
	for values := range s.points {
		if c.add(s, values); len(c.trials) > 0 {
			if last := c.trials[len(c.trials)-1].Config; !train.LearnerOf(last.LearnerName()).Exact() {
				return last, nil
			}
		}
		if tried++; tried == 100*mostCandidates {
			break
		}
	}
	if len(c.trials) == 0 {
		return train.Config{}, c.check(s)
	}
	return c.trials[0].Config, nil
}

// Check says why no combination of the values can be trained, whatever the rows; nil if some can.
func (s Space) Check() error {
	_, err := s.first()
	return err
}

// points are the combinations of the axes, varying the last axis fastest.
func (s Space) points(yield func(values map[string]string) bool) {
	at := make([]int, len(s.Axes))
	for {
		values := map[string]string{}
		for i, a := range s.Axes {
			values[a.Name] = a.Values[at[i]]
		}
		if !yield(values) {
			return
		}
		i := len(at) - 1
		for ; i >= 0 && at[i] == len(s.Axes[i].Values)-1; i-- {
			at[i] = 0
		}
		if i < 0 {
			return
		}
		at[i]++
	}
}

// random returns n different points of the space.
func (s Space) random(n int, seed uint64) (*combinations, error) {
	c := newCombinations()
	stream := random.New(seed, "tune-random")
	for tried := 0; tried < 100*n && len(c.trials) < n; tried++ {
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

// add adds the configuration with some values, less those that have no effect on it, unless it
// is already there or invalid.
func (c *combinations) add(s Space, values map[string]string) {
	t, err := s.candidate(values)
	var key []byte
	if err == nil {
		key, err = json.Marshal(t.Config)
	}
	if err != nil {
		if c.wrong++; c.why == nil {
			c.why = err
		}
		return
	}
	if c.seen[string(key)] {
		return
	}
	c.seen[string(key)] = true
	for name := range t.Values {
		c.used[name] = true
	}
	t.Index = len(c.trials)
	c.trials = append(c.trials, t)
}

// candidate is the configuration with some values, less those that have no effect on it.
func (s Space) candidate(values map[string]string) (*Candidate, error) {
	t := &Candidate{Values: map[string]string{}, Config: s.Base}
	// Settings that decide which other settings exist come first.
	names := []string{"kernel", "map", "learner"}
	for _, a := range s.Axes {
		if !slices.Contains(names[:3], a.Name) {
			names = append(names, a.Name)
		}
	}
	for _, name := range names {
		v, given := values[name]
		at := axisNamed(s.Axes, name)
		if !given || !applies(&s.Axes[at], &t.Config) {
			continue
		}
		if err := set(&t.Config, name, v); err != nil {
			return nil, err
		}
		t.Values[name] = v
	}
	k := kernel.Kernel{Name: t.Config.KernelName()}
	if t.Values["degree"] == "" && t.Config.Kernel.Degree == 0 {
		t.Config.Kernel.Degree = int(kernel.Ungiven(k.Name, "degree"))
	}
	if err := zero(k.Kind(), t.Values); err != nil {
		return nil, err
	}
	return t, t.Config.Check()
}

// zero rejects 0 for kernel parameters that cannot be 0: a configuration takes it for their default.
func zero(kind *kernel.Kind, values map[string]string) error {
	if kind == nil {
		return nil
	}
	for _, p := range kind.Parameters() {
		if v, err := strconv.ParseFloat(values[p.Name], 64); err == nil && v == 0 && !p.Takes(0) {
			return fmt.Errorf("%s is 0; of %s it must be %s", p.Name, kind, p.Must())
		}
	}
	return nil
}

// check finds axes that no configuration uses.
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
			return fmt.Errorf("no combination of the values has a use for the setting %s; "+
				"leave it out, or add a kernel, a map or a learner that has", a.Name)
		}
	}
	return nil
}

// applies says whether a configuration with known kernel, map and learner uses a setting.
func applies(a *Axis, c *train.Config) bool {
	if a.learners != nil && !slices.Contains(a.learners, c.LearnerName()) {
		return false
	}
	name := a.Name
	k := kernel.Kernel{Name: c.KernelName()}
	learner := c.Traits()
	switch {
	case name == "sigma":
		return learner.Uses(c.KernelName(), "gamma")
	case slices.Contains(kernel.ParameterNames(), name):
		return learner.Uses(c.KernelName(), name)
	case name == "map":
		return !learner.Exact()
	case name == "components" || name == "variance_share" || name == "whiten" || name == "reduce":
		return !learner.Exact()
	case name == "map_components":
		return c.Map.Name == feature.Sum
	}
	if has, common := learner.Has(name); !common {
		return has
	}
	ofMap := name == "features" || slices.Contains(mapSettings(), name)
	switch {
	case !ofMap:
		return true
	case learner.Exact():
		return learner.HasMapOption(name)
	case k.Linear() && c.Map.Name == "":
		return false
	case name == "features" || c.Map.Name == "" || c.Map.Steps != nil:
		return true
	}
	return slices.Contains(feature.OptionsOf(c.Map.Name), name)
}

// mapSettings are the settings of single maps.
var mapSettings = sync.OnceValue(func() (names []string) {
	known, _ := feature.Names()
	for _, m := range known {
		names = append(names, feature.OptionsOf(m)...)
	}
	return names
})

// The default space: γ around that of the median distance, which is right to within a factor of a few on
// most data, and the whole path of λ or C, which costs little.
var (
	usualGamma  = Axis{Name: "gamma", Values: []string{"median*0.0625", "median*0.25", "median", "median*4", "median*16"}}
	usualLambda = Axis{Name: "lambda", Values: []string{"trace*1e-06", "trace*1e-05", "trace*0.0001", "trace*0.001",
		"trace*0.01", "trace*0.1", "trace*1"}}
	usualC = Axis{Name: "c", Values: []string{"0.01", "0.1", "1", "10", "100"}}
)

// withDefaults adds the axes of the default space for settings that the base leaves open, and replaces
// "auto" by the learner that it stands for.
func (s Space) withDefaults(learner, task string) Space {
	has := func(name string) bool { return axisNamed(s.Axes, name) >= 0 }
	b := &s.Base
	s.Axes = slices.Clone(s.Axes)
	if unset(b.LearnerName()) {
		b.SetLearner(learner)
	}
	kernels, learners := []string{b.Kernel.Name}, []string{b.LearnerName()}
	if at := axisNamed(s.Axes, "kernel"); at >= 0 {
		kernels = s.Axes[at].Values
	}
	if at := axisNamed(s.Axes, "learner"); at >= 0 {
		learners = slices.Clone(s.Axes[at].Values)
		if auto := slices.Index(learners, "auto"); auto >= 0 {
			learners[auto] = learner
		}
		s.Axes[at].Values = learners
	}
	wide := slices.ContainsFunc(learners, func(l string) bool {
		return slices.ContainsFunc(kernels, func(k string) bool { return train.LearnerOf(l).Uses(cmp.Or(k, kernel.RBF.Name()), "gamma") })
	})
	if !has("gamma") && !has("sigma") && (b.Kernel.Gamma == "" || b.Kernel.Gamma == "median") && b.Kernel.Sigma == 0 && b.Map.Steps == nil && wide {
		s.Axes = append(s.Axes, usualGamma)
	}
	if r := train.As[train.Ridge](b.Learner); !has("lambda") && r.Lambda == 0 && r.LambdaBy == "" && !r.Path && !r.Variance {
		lambda := usualLambda
		lambda.learners = searching(lambda.Name)
		s.Axes = append(s.Axes, lambda)
	}
	if svm := train.As[train.KernelSVM](b.Learner); !has("c") && svm.C == 0 {
		c := usualC
		c.learners = searching(c.Name)
		if task == "classify" && (has("svm_nu") || svm.Nu != 0) { // ν takes its place
			c.learners = slices.DeleteFunc(c.learners, func(l string) bool {
				nu, _ := train.LearnerOf(l).Has("svm_nu")
				return nu
			})
		}
		s.Axes = append(s.Axes, c)
	}
	return s
}

// searching are the learners for which the setting of this name is searched by default.
func searching(setting string) (learners []string) {
	for _, name := range train.Learners() {
		if train.LearnerOf(name).Setting() == setting {
			learners = append(learners, name)
		}
	}
	return learners
}
