// Pooling compares ways to turn the local descriptors of an image into one row, by what a
// linear classifier makes of the rows: no pooling, the mean, the mean of a kernel's features,
// full bilinear pooling, and the three compact ones at several lengths (López-Sánchez, "Low
// computational cost machine learning", 2019, tables 5.3 and 5.4); or cbp-krp by the number t of
// products and the sparsity s (table 5.6).
//
//	go run ./pooling flowers17_6classes_x40.tar.gz
//	go run ./pooling -grid flowers17_6classes_x40.tar.gz
//	go run ./pooling -pools flowers17_6classes_x40.tar.gz
//	go run ./pooling -train 15 -test 29 caltech101_20classes_x45.tar.gz
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/engine/vec"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/pool"
	"mercer/kernel"
	"mercer/matrix"
)

func main() {
	train := flag.Int("train", 20, "training images of a class")
	test := flag.Int("test", 20, "test images of a class")
	splits := flag.Int("splits", 10, "random splits, each with random numbers of its own")
	c := flag.Float64("c", 10, "C of the classifiers; rows have length 1")
	grid := flag.Bool("grid", false, "compare cbp-krp by t and s in place of the methods")
	pools := flag.Bool("pools", false, "compare cbp-krp by the size of its pool in place of the methods")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: pooling [flags] IMAGES.tar.gz   (folders are classes)")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	compared := methods()
	if *grid {
		compared = sparsities()
	}
	if *pools {
		compared = poolSizes()
	}
	if err := run(context.Background(), os.Stdout, flag.Arg(0), compared, *train, *test, *splits, *c); err != nil {
		fmt.Fprintln(os.Stderr, "pooling:", err)
		os.Exit(1)
	}
}

// method is a way to pool.
type method struct {
	name string
	cfg  *pool.Config // nil: the descriptors side by side
}

func methods() []method {
	all := []method{
		{"no pooling", nil},
		{"mean", &pool.Config{Method: "mean", Norm: "root-l2"}},
		{"mean of orf, 2,000", &pool.Config{Method: "mean", Norm: "l2",
			Map: &feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf"}, Features: 2000}}},
		{"full bilinear", &pool.Config{Method: "full"}},
	}
	for _, d := range []int{2000, 3500, 5000} {
		for _, m := range []string{"cbp-krp", "tensorsketch", "maclaurin"} {
			all = append(all, method{fmt.Sprintf("%s, %d", m, d), &pool.Config{Method: m, Features: d}})
		}
	}
	return all
}

// poolSizes are cbp-krp with the pools and the numbers of features of the axes of figure 5.3; 2tD vectors are a pool of which none is used twice.
func poolSizes() []method {
	var all []method
	for _, d := range []int{500, 2000} {
		for _, m := range []int{100, 500, 1000, 2000, 5000, 8000} {
			if m <= 4*d {
				all = append(all, method{fmt.Sprintf("cbp-krp, D = %d, m = %d", d, m), &pool.Config{Method: "cbp-krp", Features: d, Pool: m, T: 2, Sparsity: 100}})
			}
		}
	}
	return all
}

// sparsities are cbp-krp with the settings of table 5.6.
func sparsities() []method {
	var all []method
	for _, s := range []float64{50, 100, 200} {
		for _, t := range []int{2, 4, 6} {
			all = append(all, method{fmt.Sprintf("cbp-krp, t = %d, s = %g", t, s),
				&pool.Config{Method: "cbp-krp", Features: 2000, Pool: 5000, T: t, Sparsity: s}})
		}
	}
	return all
}

func run(ctx context.Context, out io.Writer, name string, compared []method, train, test, splits int, c float64) error {
	if train < 1 || test < 1 || splits < 1 {
		return errors.New("give 1 or more training images, test images and splits")
	}
	pictures, err := readArchive(name)
	if err != nil {
		return err
	}
	start := time.Now()
	x := matrix.NewDense(len(pictures)*locations, channels)
	vec.Parallel(len(pictures), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			descriptors(pictures[i], x.Slice(i*locations, (i+1)*locations))
		}
	})
	fmt.Fprintf(out, "%d images, %d locations of %d channels each; descriptors %.2g ms an image\n",
		len(pictures), locations, channels, milliseconds(time.Since(start))/float64(len(pictures)))
	gamma, err := kernel.MedianGamma(matrix.Rows{Dense: x}, 1, "rbf")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-24s %9s   %-14s %14s %16s %12s\n", "pooling", "features", "accuracy, %", "pool, ms", "classify, ms", "memory, MiB")
	for _, m := range compared {
		if err := compare(ctx, out, m, x, pictures, gamma, train, test, splits, c); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// compare prints a line of the table. Times are of one image, the least of all, as in the thesis:
// other work on the machine does not show in them. Memory is that of the pooling and of the classifier.
func compare(ctx context.Context, out io.Writer, m method, x *matrix.Dense,
	pictures []picture, gamma float64, train, test, splits int, c float64) error {
	n := len(pictures)
	var percents []float64
	var pooling, classifying []time.Duration
	var z matrix.Dense
	bytes := int64(0)
	for s := range splits {
		seed := uint64(s + 1)
		if m.cfg == nil {
			z = matrix.Dense{Rows: n, Cols: locations * channels, Stride: locations * channels, Data: slices.Clone(x.Data)}
			rootL2(&z)
		} else {
			cfg := *m.cfg
			cfg.Seed = seed
			if cfg.Map != nil {
				with := *cfg.Map
				with.Seed, with.Kernel.Gamma = seed, gamma
				cfg.Map = &with
			}
			p, err := pool.New(cfg, channels)
			if err != nil {
				return err
			}
			_, d := p.Dims()
			z.Reshape(n, d)
			for i := range n {
				start := time.Now()
				p.Pool(z.Slice(i, i+1), matrix.Rows{Dense: x.Slice(i*locations, (i+1)*locations)}, []int{0, locations})
				pooling = append(pooling, time.Since(start))
			}
			bytes = p.Bytes()
		}
		parts, classes, err := split(pictures, train, test, seed)
		if err != nil {
			return err
		}
		linear, _, err := learn.FitSVM(ctx, learn.InMemory(rows(&z, parts[0])), classOf(parts[0]), classes, nil, learn.SVM{C: c, Seed: seed})
		if err != nil {
			return err
		}
		held := rows(&z, parts[1])
		scores := matrix.NewDense(held.Len(), linear.W.Cols)
		for i := range scores.Rows {
			start := time.Now()
			linear.Scores(scores.Slice(i, i+1), held.Slice(i, i+1))
			classifying = append(classifying, time.Since(start))
		}
		right := 0
		for i, c := range classOf(parts[1]) {
			if learn.Predicted(scores.Row(i)) == c {
				right++
			}
		}
		percents = append(percents, 100*float64(right)/float64(scores.Rows))
		if s == splits-1 {
			bytes += 4 * int64(linear.W.Rows) * int64(linear.W.Cols)
			mean, sd := spread(percents)
			fmt.Fprintf(out, "%-24s %9d   %5.1f ± %-6.1f %14.4f %16.5f %12.1f\n", m.name, z.Cols, mean, sd,
				milliseconds(least(pooling)), milliseconds(least(classifying)), float64(bytes)/(1<<20))
		}
	}
	return nil
}

// member is an image of a part and its class.
type member struct{ image, class int }

// split draws training and test images of every class.
func split(pictures []picture, train, test int, seed uint64) (parts [2][]member, classes int, err error) {
	of := map[string][]int{}
	var names []string
	for i, p := range pictures {
		if of[p.label] == nil {
			names = append(names, p.label)
		}
		of[p.label] = append(of[p.label], i)
	}
	slices.Sort(names)
	for c, name := range names {
		images := of[name]
		if len(images) < train+test {
			return parts, 0, fmt.Errorf("class %s has %d images, but %d are to be drawn", name, len(images), train+test)
		}
		perm := random.New(seed, "pooling.split", uint64(c)).Perm(len(images))
		for k, i := range perm[:train+test] {
			part := 0
			if k >= train {
				part = 1
			}
			parts[part] = append(parts[part], member{images[i], c})
		}
	}
	return parts, len(names), nil
}

func rows(z *matrix.Dense, part []member) matrix.Rows {
	x := matrix.NewDense(len(part), z.Cols)
	for i, m := range part {
		copy(x.Row(i), z.Row(m.image))
	}
	return matrix.Rows{Dense: x}
}

func classOf(part []member) []int {
	all := make([]int, len(part))
	for i, m := range part {
		all[i] = m.class
	}
	return all
}

// rootL2 replaces rows v by sign(v)√|v|, of length 1.
func rootL2(z *matrix.Dense) {
	for i := range z.Rows {
		row := z.Row(i)
		vec.SignedRoot32(row, row)
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		if sum > 0 {
			for j := range row {
				row[j] *= float32(1 / math.Sqrt(sum))
			}
		}
	}
}

func milliseconds(d time.Duration) float64 { return 1e3 * d.Seconds() }

// least is 0 of none.
func least(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}

// spread returns the mean and the standard deviation of numbers.
func spread(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(max(1, len(v)-1))
	}
	return mean, math.Sqrt(sd)
}
