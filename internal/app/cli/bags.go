package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	front "mercer"
	"mercer/dataset"
	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/pool"
	"mercer/kernel"
	"mercer/model"
	"mercer/train"
)

// bagsHelp is what the help of train and transform says about bags.
const bagsHelp = `Bags: sets of rows with one label, such as the local descriptors of an image or the readings
of a device, are pooled into one row each. DATA are bags if it is a folder, each file of which
is a bag (its label is the name of the folder it is in, or comes from --labels: lines of a
name and a label, or labels in the order of the names); with --group COLUMN, by which rows of
the same value stand together (LIBSVM text: --group qid); and with --pooling, which also makes
an NPY array of images × locations × channels (or × height × width × channels) a bag an image,
--labels having one label an image. Without --pooling they become the mean of features of the
rbf kernel of their members. --bag-kernel and its kin are about members; --kernel, --map,
--features and --scale about the rows that bags become, whose kernel is linear by default.`

// groupFlag is the flag of all commands that read bags.
func groupFlag(cmd *cobra.Command, o *dataset.Options) {
	cmd.Flags().StringVar(&o.Group, "group", "", "column that says which bag a row is of, by name or index; qid in LIBSVM text")
}

// bagFlags are the flags that say how bags become rows.
func bagFlags(cmd *cobra.Command, o *dataset.Options, b *pipeline.BagConfig) {
	groupFlag(cmd, o)
	methods, _ := pool.Methods()
	f := cmd.Flags()
	f.StringVar(&b.Pooling, "pooling", "", "how a bag becomes a row: "+strings.Join(methods, ", ")+" (default: mean)")
	f.Var(&bagValue{b: b}, "bag", "all options of bags, in JSON or @FILE with it, such as "+`{"pooling":"mean","sigma":2,"features":512}`)
	f.StringVar(&b.Scale, "bag-scale", "", "scaling of the members of bags, as --scale (default: auto for mean, else none)")
	f.StringVar(&b.Kernel, "bag-kernel", "", "kernel of members, whose features --pooling mean averages: "+
		strings.Join(kernel.Names(), ", ")+" (default: rbf; linear averages the members)")
	f.StringVar(&b.Gamma, "bag-gamma", "", "γ of that kernel: a number, median or scale (default: median)")
	f.Var(&mapValue{name: &b.Map, steps: &b.Steps, weights: &b.Weights}, "bag-map", "feature map of members, as --map")
	f.IntVar(&b.Features, "bag-features", 0, "D of that map (default: about the number of bags, from 512 to 4096), "+
		"or of cbp-krp, tensorsketch and maclaurin (default: 4096)")
	f.IntVar(&b.Streams, "streams", 0, "2 for bilinear pooling of two descriptors that stand side by side in a row (default: 1)")
	f.IntVar(&b.First, "first", 0, "channels of the first of two streams")
	f.StringVar(&b.Norm, "norm", "", "what is done to a pooled row: none, l2, root-l2 (default: l2 of mean, root-l2 of the other ways)")
}

// bagValue is the flag --bag.
type bagValue struct {
	b    *pipeline.BagConfig
	text string
}

var _ pflag.Value = (*bagValue)(nil)

func (v *bagValue) String() string { return v.text }

func (v *bagValue) Type() string { return "bag" }

func (v *bagValue) file() string { return fileBehind(v.text) }

func (v *bagValue) Set(s string) error {
	text := []byte(strings.TrimSpace(s))
	if name, ok := strings.CutPrefix(s, "@"); ok {
		var err error
		if text, err = ReadSmall(name, nil); err != nil {
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v.b); err != nil {
		return fmt.Errorf(`not bags in JSON, such as {"pooling":"mean","kernel":"rbf","features":512}: %w`, err)
	}
	if d.More() {
		return errors.New("more than one object in JSON")
	}
	v.text = s
	return nil
}

// settleBags gives a configuration the part of bags if the flags or the data ask for one.
func settleBags(cmd *cobra.Command, path string, o *dataset.Options, c *train.Config, b *pipeline.BagConfig) error {
	changed := cmd.Flags().Changed
	own := slices.ContainsFunc([]string{"group", "pooling", "bag", "bag-scale", "bag-kernel", "bag-gamma", "bag-map", "bag-features",
		"streams", "first", "norm"}, changed)
	if !own && !bagFolder(path, o) {
		return nil
	}
	c.Bag = b
	b.Pooling = strings.ToLower(b.Pooling)
	if changed("kernel") || changed("map") {
		return nil
	}
	c.Kernel.Name = kernel.Linear.Name()
	for _, name := range append([]string{"features", "sigma"}, kernel.ParameterNames()...) {
		if !changed(name) {
			continue
		}
		instead := fmt.Sprintf("--bag '{\"%s\": …}'", name)
		if name == "features" || name == "gamma" {
			instead = "--bag-" + name
		}
		return usagef("--%s is about the rows that bags become, which have no map unless --kernel or --map names one; "+
			"for the members of bags use %s", name, instead)
	}
	// There is no map but that of the bags.
	if b.Pooling == "cbp-krp" {
		for name, move := range map[string]func(){
			"pool":     func() { b.Pool, c.Map.Pool = c.Map.Pool, 0 },
			"t":        func() { b.T, c.Map.T = c.Map.T, 0 },
			"sparsity": func() { b.Sparsity, c.Map.Sparsity = c.Map.Sparsity, 0 },
			"reuse":    func() { b.Reuse, c.Map.Reuse = c.Map.Reuse, "" },
		} {
			if changed(name) {
				move()
			}
		}
	}
	for _, name := range mapOptionNames() {
		if changed(name) && !(b.Pooling == "cbp-krp" && slices.Contains(pool.OptionsOf("cbp-krp"), name)) {
			return usagef("--%s is about the rows that bags become, which have no map unless --map names one; "+
				"for the members of bags use --bag '{\"%s\": …}'", name, name)
		}
	}
	return nil
}

// mapOptionNames are the flags of single maps.
func mapOptionNames() (names []string) {
	var c train.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	mapOptions(f, &c.Map.Options)
	f.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// bagFolder says whether a path is a folder whose files are bags, rather than parts of one table: these have a label column that is
// named, or folders NAME=VALUE.
func bagFolder(path string, o *dataset.Options) bool {
	return isFolder(path) && (o.Label == "" || o.Label == "none") && !dataset.Partitioned(path)
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// rows is data that a model reads: a file of rows, or bags as the rows that they become.
type rows struct {
	dataset.Source
	file dataFile
}

// dataFile is a file or folder that is open.
type dataFile interface {
	Name() string
	Close() error
	UnseenCategories() []dataset.Unseen
}

func (r *rows) Close() error { return r.file.Close() }

func (r *rows) UnseenCategories() []dataset.Unseen { return r.file.UnseenCategories() }

// openRows opens data for a model that was trained.
func openRows(cmd *cobra.Command, m *model.Model, path string, o dataset.Options) (*rows, error) {
	t := fittedTransform{bag: m.Bag(), schema: m.Info().Schema}
	if t.bag != nil {
		t.schema = m.Info().Bag.Schema
	}
	if err := noGroup(m, o); err != nil {
		return nil, err
	}
	return t.open(cmd.Context(), path, o)
}

// noGroup refuses a column of groups for a model of rows.
func noGroup(m *model.Model, o dataset.Options) error {
	if m.Bag() == nil && o.Group != "" {
		return errors.New("--group is for models of bags; this one was trained on rows")
	}
	return nil
}

// unseenIn are the values of open data that the model does not know.
func unseenIn(src dataFile) (list []front.Unseen) {
	for _, u := range src.UnseenCategories() {
		list = append(list, front.Unseen{Data: src.Name(), Unseen: u})
	}
	return list
}

// warnUnseen tells of categories that the model has never seen; they count as none.
func warnUnseen(cmd *cobra.Command, list []front.Unseen) {
	for _, u := range list {
		if u.Missing > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s: column %q lacks a value in %s, but had one in each row of the training; a missing number is "+
				"the mean, a missing category none of the known ones\n", cmd.CommandPath(), visible.Text(u.Data), u.Column, units.Plural(u.Missing, "row"))
		}
		if u.Dropped > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s: column %q has no value in %s, which are left out\n", cmd.CommandPath(), visible.Text(u.Data), u.Column,
				units.Plural(u.Dropped, "row"))
		}
		if u.Rows == 0 {
			continue
		}
		if u.Written != "" {
			place := units.Plural(u.Rows, "row")
			if u.Line > 0 {
				place += ", first in line " + units.Count(u.Line)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s: column %q: %q %s (%s)\n", cmd.CommandPath(), visible.Text(u.Data), u.Column, u.Value, u.Written, place)
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: %s: column %q has values that the model was not trained on, such as %q (%s); "+
			"they count as none of the known ones\n", cmd.CommandPath(), visible.Text(u.Data), u.Column, u.Value, units.Plural(u.Rows, "row"))
	}
}

// bagKeys are the names of the bags that the last batch of a reader was, nil for rows.
func bagKeys(r dataset.Reader) []string {
	if k, ok := r.(interface{ Keys() []string }); ok {
		return k.Keys()
	}
	return nil
}
