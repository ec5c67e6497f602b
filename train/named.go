package train

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Learner is a learner with its options: a Ridge, Lasso, ElasticNet, GroupLasso, LDA, SVM, SVR, Logistic, OneClass, Residual, KMeans, SGD, KernelRidge, KNN,
// Falkon, KernelSVM or RFM, or one that is Named.
type Learner interface{ learner() string }

// Named is a learner by its name, one of Learners, with options by their names in JSON. It becomes the type of that learner
// when a training begins, and there is an error if the learner has no such option. With the name "auto", or "", the data and the
// options choose.
type Named struct {
	Name    string
	Options map[string]any
}

func (n Named) learner() string { return n.Name }

// LearnerName is the name of the learner, "" or "auto" if there is none yet.
func (c Config) LearnerName() string {
	if c.Learner == nil {
		return ""
	}
	return c.Learner.learner()
}

// Traits are those of the learner, nil if the data choose it.
func (c Config) Traits() *Traits { return LearnerOf(c.LearnerName()) }

// SetLearner takes another learner, with the same options.
func (c *Config) SetLearner(name string) { c.Learner = fitting(Named{name, optionsOf(c.Learner)}) }

// optionsOf are the options of a learner that are not zero, by their names.
func optionsOf(l Learner) map[string]any {
	if n, ok := l.(Named); ok || l == nil {
		options := maps.Clone(n.Options)
		maps.DeleteFunc(options, func(_ string, v any) bool { return v == nil || reflect.ValueOf(v).IsZero() })
		return options
	}
	options := map[string]any{}
	v := reflect.Indirect(reflect.ValueOf(l))
	for _, s := range optionsIn(v.Type()) {
		if f := v.FieldByIndex(s.index); !f.IsZero() {
			options[s.Name] = f.Interface()
		}
	}
	return options
}

// filled is a learner of a type with those of the options that it has; rest are the names of the others.
func filled(of reflect.Type, options map[string]any) (l Learner, rest []string, err error) {
	v := reflect.New(of).Elem()
	known := optionsIn(of)
	for _, name := range slices.Sorted(maps.Keys(options)) {
		i := slices.IndexFunc(known, func(s Setting) bool { return s.Name == name })
		if i < 0 {
			rest = append(rest, name)
			continue
		}
		value, err := known[i].value(options[name])
		if err != nil {
			return nil, nil, err
		}
		v.FieldByIndex(known[i].index).Set(value)
	}
	return v.Interface().(Learner), rest, nil
}

// value is a value with the type of the setting.
func (s *Setting) value(v any) (reflect.Value, error) {
	got := reflect.ValueOf(v)
	if v == nil || got.Type() != s.Type && (!got.CanConvert(s.Type) || got.Kind() == reflect.String || s.Type.Kind() == reflect.String) {
		return got, fmt.Errorf("%s: the value %v is no %s", s.Name, v, s.Type)
	}
	return got.Convert(s.Type), nil
}

// fitting is the learner of that name as its own type, where it has all options.
func fitting(n Named) Learner {
	if traits := LearnerOf(n.Name); traits != nil {
		if l, rest, err := filled(reflect.TypeOf(traits.options), n.Options); err == nil && rest == nil {
			return l
		}
	}
	return n
}

// As are the options of a learner as those of a learner of type T: those that both have.
func As[T Learner](l Learner) T {
	if l, ok := l.(T); ok {
		return l
	}
	of, _, _ := filled(reflect.TypeFor[T](), optionsOf(l))
	t, _ := of.(T)
	return t
}

// automatic says that the learner is still to be chosen.
func (c *Config) automatic() bool {
	name := strings.ToLower(c.LearnerName())
	return name == "" || name == "auto"
}

// settleLearner makes a named learner that of its type, and checks its options.
func (c *Config) settleLearner() error {
	if c.automatic() {
		c.Learner = Named{"auto", optionsOf(c.Learner)}
		if c.Task != "outliers" {
			return nil
		}
		c.SetLearner(oneClassLearner.name)
	}
	name := strings.ToLower(c.LearnerName())
	l := LearnerOf(name)
	if l == nil {
		return unknownLearner(name)
	}
	if option := l.lacks(c); option != "" {
		if haveOption(option) == nil {
			return fmt.Errorf("no learner has an option %s", option)
		}
		return fmt.Errorf("the learner %s has no option %s; it belongs to %s", l.name, dashed(option), strings.Join(haveOption(option), ", "))
	}
	typed, _, err := filled(reflect.TypeOf(l.options), optionsOf(c.Learner))
	if err != nil {
		return err
	}
	c.Learner = typed
	return checkRanges(typed)
}

// checkAutomatic rejects options that neither of the learners of features has, one of which will be chosen.
func (c *Config) checkAutomatic() error {
	if loss := strings.ToLower(As[SVM](c.Learner).Loss); loss != "" && !slices.Contains(svmLosses, loss) {
		return fmt.Errorf("loss %q is not known; known are %s, or name another learner", loss, strings.Join(svmLosses, ", "))
	}
	svm, ridge := svmLearner.lacks(c), ridgeLearner.lacks(c)
	if svm != "" && svm == ridge {
		return fmt.Errorf("the option %s belongs to the learner %s; name it", dashed(svm), strings.Join(haveOption(svm), " or "))
	}
	for _, l := range []*Traits{&svmLearner, &ridgeLearner} {
		chosen, _, err := filled(reflect.TypeOf(l.options), optionsOf(c.Learner))
		if err == nil {
			err = checkRanges(chosen)
		}
		if err == nil && (svm == "") != (ridge == "") && l.lacks(c) == "" {
			one := *c
			one.Learner = chosen
			err = one.checkLearner()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRanges rejects numbers below zero, and those that are none, of options whose tag says so.
func checkRanges(l Learner) error {
	v := reflect.ValueOf(l)
	for _, s := range optionsIn(v.Type()) {
		f := v.FieldByIndex(s.index)
		if s.Range == "positive" && (f.CanInt() && f.Int() < 0 || f.CanFloat() && !(f.Float() >= 0 && f.Float()-f.Float() == 0)) {
			return fmt.Errorf("%s %v is not a positive number", s.Name, f.Interface())
		}
	}
	return nil
}

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }
