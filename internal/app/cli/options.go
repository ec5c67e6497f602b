package cli

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/engine/option"
	"mercer/train"
)

// learnerFlags are the flags that choose a learner and its options.
func learnerFlags(cmd *cobra.Command, c *train.Config) {
	f := cmd.Flags()
	c.SetLearner("auto")
	learner := f.String("learner", "auto", "learner: auto (rfm for tables of numbers; otherwise svm for classes whose features fit into memory, else ridge), "+
		strings.Join(train.Learners(), ", "))
	after(f.Lookup("learner"), func() { c.SetLearner(*learner) })
	for _, s := range train.Settings() {
		if s.Help != nil {
			optionOf(f, c, s)
		}
	}
	settingFlags(f, &c.Shrinkage, train.Shrinkage.Help)
	settingFlags(f, &c.Calibrate, train.Calibration.Help)
	f.StringVar(&c.Threshold, "threshold", "", "what divides two classes: a probability, score=NUMBER, or max-f1, precision=SHARE, recall=SHARE or "+
		"cost=fn:NUMBER,fp:NUMBER, chosen on rows that the learner has not seen (default: the larger probability, or the sign of the score)")
	f.StringVar(&c.ClassWeight, "class-weight", "", "weights of classes: balanced, or LABEL=WEIGHT,… (default: all 1)")
}

// optionHelp is the help of the options of learners.
var optionHelp = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, s := range train.Settings() {
		if s.Help != nil {
			all[s.Name] = option.Text(option.Errorf("%s", s.Help), optionFlag)
		}
	}
	return all
})

// optionOf is the flag of an option of learners.
func optionOf(f *pflag.FlagSet, c *train.Config, s train.Setting) {
	help := optionHelp()[s.Name]
	name, to := strings.ReplaceAll(s.Name, "_", "-"), reflect.New(s.Type)
	switch v := to.Interface().(type) {
	case *string:
		f.StringVar(v, name, "", help)
	case *bool:
		f.BoolVar(v, name, false, help)
	case *int:
		f.IntVar(v, name, 0, help)
	case *float64:
		switch {
		case s.Name == "lambda":
			f.Var(&lambdaValue{c: c, value: v}, name, help)
		case s.Range == "share":
			f.Var((*shareValue)(v), name, help)
		default:
			f.Float64Var(v, name, 0, help)
		}
	}
	after(f.Lookup(name), func() { c.Set(s.Name, to.Elem().Interface()) })
}

// after calls a function each time that a flag has been set.
func after(f *pflag.Flag, set func()) { f.Value = followed{f.Value, set} }

type followed struct {
	pflag.Value
	set func()
}

func (v followed) Set(s string) error {
	err := v.Value.Set(s)
	if err == nil {
		v.set()
	}
	return err
}

// lambdaValue is the flag --lambda: a number, a number times the mean variance of the features,
// as tune has it, or auto, which leaves the choice to --lambda-by.
type lambdaValue struct {
	c     *train.Config
	value *float64
	text  string
}

var _ pflag.Value = (*lambdaValue)(nil)

func (v *lambdaValue) String() string { return v.text }
func (v *lambdaValue) Type() string   { return "number" }

func (v *lambdaValue) Set(s string) error {
	text := strings.ToLower(strings.TrimSpace(s))
	number, ofTrace := strings.CutPrefix(text, "trace*")
	lambda, err := 0.0, error(nil)
	if text != "auto" {
		lambda, err = strconv.ParseFloat(number, 64)
	}
	if err != nil || math.IsNaN(lambda) || math.IsInf(lambda, 0) || lambda < 0 || ofTrace && lambda == 0 {
		return errors.New("give a positive number, trace*NUMBER such as trace*0.001, or auto; 0 is least squares")
	}
	*v.value, v.text = lambda, text
	return nil
}

// settle brings the flag together with --lambda-by.
func (v *lambdaValue) settle() error {
	c := v.c
	by, learner := strings.ToLower(train.As[train.Ridge](c.Learner).LambdaBy), c.Traits()
	chooses, _ := learner.Has("lambda_by")
	ridge := chooses || learner == nil
	switch ofTrace := strings.HasPrefix(v.text, "trace*"); {
	case ofTrace && !ridge:
		return usagef("--lambda %s is in parts of the mean variance of the features, which the ridge alone knows; give %s a number",
			v.text, c.LearnerName())
	case ofTrace && by != "" && by != "trace":
		return usagef("--lambda %s gives λ, so that --lambda-by %s has nothing to say; leave out one of them", v.text, by)
	case ofTrace:
		c.Set("lambda_by", "trace")
	case v.text == "auto" && (by == "given" || by == "trace"):
		return usagef("--lambda auto gives no λ, but --lambda-by %s needs one; give --lambda a number, or leave out --lambda-by", by)
	case v.text != "auto" && *v.value == 0 && learner.Sparse():
		return usagef("--lambda 0 leaves %s no penalty, which is least squares: take --learner ridge --lambda 0, "+
			"or leave out --lambda to have one chosen", c.LearnerName())
	case v.text != "auto" && *v.value == 0 && by == "" && ridge:
		c.Set("lambda_by", "given")
	}
	return nil
}

// shareValue is a flag that takes a number above 0 and up to 1.
type shareValue float64

var _ pflag.Value = (*shareValue)(nil)

func (s *shareValue) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

func (s *shareValue) Type() string { return "float" }

func (s *shareValue) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v > 0 && v <= 1) {
		return errors.New("give a number above 0 and up to 1")
	}
	*s = shareValue(v)
	return nil
}
