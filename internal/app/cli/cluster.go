package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/app/render"
	"mercer/internal/engine/random"
	"mercer/internal/solve/moments"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/reduce"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// clustering is the state of the command cluster.
type clustering struct {
	cfg      train.Config
	options  train.KMeans
	data     dataset.Options
	memory   bytesValue
	out      string
	json     bool
	progress string
	pages    Pages
}

func newCluster() *cobra.Command {
	c := &clustering{}
	cmd := &cobra.Command{
		Use:   "cluster [flags] DATA -o MODEL",
		Short: "Find clusters of rows",
		Long: `Find groups of near rows by k-means in the feature space of a kernel, and write a model whose classes are the clusters 1, 2, …,
the largest first: mercer predict says which one a row belongs to. With --components it is spectral clustering, on the leading
principal components of the features.

Labels play no part, but where rows have some, the output says how far clusters agree with them. The silhouette is that of
2,000 rows, in feature space; --report shows their two leading components, coloured by cluster and by label.`,
		Example: `  mercer cluster customers.csv --label none --clusters 5 -o groups.mercer --report groups.html
  mercer cluster images-idx3-ubyte.gz --clusters 10 --components 20 -o digits.mercer`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&c.out, "output", "o", "", "file to write the model to")
	f.IntVar(&c.options.Clusters, "clusters", 8, "number of clusters")
	f.IntVar(&c.options.Starts, "starts", 4, "how many times seeds are drawn, of which the best are kept")
	scaleFlag(cmd, &c.cfg)
	modelFlags(cmd, &c.cfg)
	settingFlags(f, &c.cfg.Reduce, train.Reduction.Help)
	dataFlags(cmd, &c.data)
	f.Var(&c.memory, "memory", "most memory to use, such as 8GiB (default: 80 % of what is free)")
	f.BoolVar(&c.json, "json", false, "print one JSON object instead of text")
	ProgressFlag(cmd, &c.progress)
	PageFlags(cmd, &c.pages)
	return cmd
}

func (c *clustering) run(cmd *cobra.Command, path string) error {
	if c.out == "" {
		return usagef("no file to write the model to; give -o MODEL")
	}
	if c.options.Clusters == 0 || c.options.Starts == 0 {
		return usagef("--clusters and --starts take a number of 1 or more")
	}
	ctx := cmd.Context()
	c.cfg.Learner = c.options
	if err := settle(cmd, &c.cfg); err != nil {
		return err
	}
	if err := readLandmarks(ctx, &c.cfg, c.data); err != nil {
		return err
	}
	if err := c.cfg.Check(); err != nil {
		return UsageError{err}
	}
	if err := checkRows(&c.data, &c.cfg); err != nil {
		return err
	}
	if err := c.pages.Check(c.out, path, c.data.LabelsFile); err != nil {
		return err
	}
	p, err := NewProgress(cmd, c.progress)
	if err != nil {
		return err
	}
	defer p.Done()
	if c.memory == 0 {
		c.memory = bytesValue(availableMemory() / 5 * 4)
	}
	needsNoLabels(&c.data)
	src, err := dataset.Open(ctx, path, c.data)
	if err != nil {
		return err
	}
	defer src.Close()
	m, _, err := train.Fit(ctx, src, c.cfg, train.Options{Memory: int64(c.memory), Progress: p.Report})
	if err != nil {
		return err
	}
	found, err := describeClusters(ctx, m, src, max(c.cfg.Seed, 1))
	if err != nil {
		return err
	}
	if err := m.Save(c.out); err != nil {
		return err
	}
	p.Done()
	if c.json {
		if err := render.JSON(cmd.OutOrStdout(), found.JSON(c.out)); err != nil {
			return err
		}
	} else {
		found.Text(cmd.OutOrStdout(), src.Name())
		render.SavedText(cmd.OutOrStdout(), c.out, sizeOf(c.out))
	}
	return c.pages.Write(cmd, found.Page(src.Name()), c.json)
}

// pictured is how many rows tell the silhouette, and are in pictures.
const pictured = 2000

// describeClusters passes over the rows once more, to compare their clusters with their labels, and to look at some of them.
func describeClusters(ctx context.Context, m *model.Model, src dataset.Source, seed uint64) (*render.Clusters, error) {
	c := &render.Clusters{Model: render.Model{Info: m.Info(), Dim: m.Dim()}}
	share := float64(pictured) / float64(m.Info().Training.Rows)
	pipe := m.Pipeline()
	var scores, one matrix.Dense
	sample := &matrix.Dense{Cols: pipe.Features(), Stride: pipe.Features()}
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			return nil, err
		}
		scores.Reshape(b.X.Len(), m.Outputs())
		if err := m.Learned(&scores, b.X); err != nil {
			return nil, pipeline.Refused(err, src, b.First)
		}
		for i := range b.X.Len() {
			cluster := m.Class(scores.Row(i))
			label, labelled := labelText(b.Batch, i)
			if labelled {
				if c.Agreement == nil {
					c.Agreement = &eval.Agreement{}
				}
				c.Agreement.Add(m.Classes()[cluster], label)
			}
			if sample.Rows == pictured || float64(random.Hash(seed, "clusters.sample", uint64(b.First+i))) >= share*0x1p64 {
				continue
			}
			one.Reshape(1, sample.Cols)
			if err := pipe.Transform(&one, b.X.Slice(i, i+1)); err != nil {
				return nil, err
			}
			sample.Data = append(sample.Data, one.Data...)
			sample.Rows++
			c.Cluster = append(c.Cluster, cluster)
			if labelled {
				c.Labels = append(c.Labels, label)
			}
		}
	}
	if c.Sampled = sample.Rows; c.Sampled < 2 {
		return nil, errors.New("too few rows for a picture")
	}
	c.Silhouette = eval.Silhouette(sample, c.Cluster)
	all := moments.New(sample.Cols, 1)
	all.Add(sample, make([]float64, sample.Rows), nil)
	to, _, err := reduce.PCA{Components: min(2, sample.Cols)}.Fit(ctx, all.Moments())
	if err != nil {
		return nil, err
	}
	_, k := to.Dims()
	z := matrix.NewDense(sample.Rows, k)
	to.Transform(z, matrix.Rows{Dense: sample}, &matrix.Dense{})
	c.Plane = matrix.NewDense(sample.Rows, 2)
	for i := range z.Rows {
		copy(c.Plane.Row(i), z.Row(i))
	}
	return c, nil
}

// labelText is the label of a row of a batch, if it has one.
func labelText(b *matrix.Batch, i int) (text string, ok bool) {
	switch {
	case b.Names != nil && b.Names[i] != "":
		return b.Names[i], true
	case b.Outputs == 1 && b.Y[i] == b.Y[i]:
		return strconv.FormatFloat(b.Y[i], 'g', -1, 64), true
	}
	return "", false
}
