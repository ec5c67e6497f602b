package main

import (
	"fmt"

	"mercer/internal/engine/units"
)

// solvers are learners alone, on the same features or rows as their peers.
func solvers(s sizes) *section {
	out := &section{
		name:  "solvers",
		title: "Learners",
		intro: fmt.Sprintf("Solvers alone, %d threads; those of LIBLINEAR and LIBSVM have one. ", s.threads) +
			"Features are those of `sorf` on images of MNIST, 10 classes, C = 1. Mercer stops at a duality gap of 0.1 %, " +
			"or in the primal at a hundredth of LIBLINEAR's default gradient; tests compare objectives with those of LIBLINEAR and LIBSVM " +
			"(`internal/solve/learn/testdata`, `internal/solve/exact/testdata`).",
	}
	out.tables = []table{out.linear(s), out.programs(s), out.bounded(s)}
	return out
}

// linear are linear learners on features in a file.
func (out *section) linear(s sizes) table {
	// features of the first n images are written once for all learners that take them.
	features := func(n, d int) (z, labels file, shape string) {
		images, labels := idx(n, false), idx(n, true)
		z.name = fmt.Sprintf("%s-%d.npy", images.name, d)
		z.line = fmt.Sprintf(`mercer transform "$WORK/%s" --map sorf --kernel rbf --sigma 8.27 --scale global --features %d -o "$WORK/%s"`,
			images.name, d, z.name)
		out.make(images, labels, z)
		return z, labels, units.Count(n) + " × " + units.Count(d)
	}
	t := table{head: []string{"learner", "rows × features", "Mercer", "peer", "its time", "times as fast"}}
	for _, c := range []struct {
		id, name, flags string
		peer            string
		rows, features  int
	}{
		{"svm", "SVM, dual", "--learner svm",
			"LIBLINEAR by LinearSVC(dual=True, tol=0.1, fit_intercept=False)", s.n(20_000, 1000), s.n(4096, 128)},
		{"squared-hinge", "SVM, primal", "--learner svm --solver primal",
			"LIBLINEAR by LinearSVC(dual=False, tol=0.01)", s.n(10_000, 500), s.n(1024, 64)},
		{"logistic", "logistic regression, one against the rest", "--learner logistic --multiclass ovr",
			"LIBLINEAR by LogisticRegression(tol=0.01)", s.n(10_000, 500), s.n(1024, 64)},
		{"multinomial", "logistic regression, all classes at once", "--learner logistic",
			"LogisticRegression by L-BFGS", s.n(10_000, 500), s.n(1024, 64)},
	} {
		z, labels, shape := features(c.rows, c.features)
		ours := fmt.Sprintf("mercer train $WORK/%s --labels $WORK/%s --kernel linear --scale none %s --c 1 --threads %d --json -o $WORK/m.mercer",
			z.name, labels.name, c.flags, s.threads)
		theirs := python("solvers.py", "%s $WORK/%s $WORK/%s --c 1 --threads %d", c.id, z.name, labels.name, s.threads)
		peer := c.id + "/scikit-learn"
		out.turns(command{c.id, ours, readJSON}, command{peer, theirs, readJSON})
		t.add(label(c.name), label(shape), seconds(c.id, "seconds.solve"), label(c.peer), seconds(peer, "seconds"),
			faster(c.id, "seconds.solve", peer, "seconds"))
	}
	return t
}

// programs are LIBSVM's and LIBLINEAR's.
func (out *section) programs(s sizes) table {
	few := s.n(10_000, 500)
	images, labels := idx(few, false), idx(few, true)
	text := file{name: images.name + ".svm"}
	text.line = fmt.Sprintf(`mercer transform "$WORK/%s" --labels "$WORK/%s" --kernel linear --scale global -o "$WORK/%s"`,
		images.name, labels.name, text.name)
	out.make(images, labels, text,
		file{"w8a", `zcat "$DATA/w8a/w8a.gz" > "$WORK/w8a"`},
		file{"news20", `bzcat "$DATA/news20/news20.bz2" > "$WORK/news20"`})
	t := table{
		intro: "Whole programs, from the file to the model, by the clock; LIBLINEAR's and Mercer's on one thread.",
		head:  []string{"work", "Mercer", "peer", "its time", "times as fast"},
	}
	pair := func(id, what, ours, theirs, peer string) {
		out.turns(command{id, ours, readNothing}, command{id + "/" + peer, theirs, readNothing})
		t.add(label(what), seconds(id, "wall"), label(peer), seconds(id+"/"+peer, "wall"), faster(id, "wall", id+"/"+peer, "wall"))
	}
	pair("machine",
		fmt.Sprintf("SVM with the kernel itself, %s images, C = 10, γ = 0.025, one class against another, %d threads",
			units.Count(few), s.threads),
		fmt.Sprintf("mercer train $WORK/%s --scale none --learner kernel-svm --c 10 --gamma 0.025 --threads %d -o $WORK/m.mercer",
			text.name, s.threads),
		fmt.Sprintf("svm-train -q -m 1000 -c 10 -g 0.025 $WORK/%s $WORK/libsvm.model", text.name), "svm-train")
	for _, c := range []struct{ set, solver, name string }{
		{"w8a", "0", "logistic regression, primal"},
		{"w8a", "7", "logistic regression, dual"},
		{"w8a", "2", "SVM, primal"},
		{"w8a", "5", "SVM, L1 penalty"},
		{s.text("news20", "w8a"), "3", "SVM, hinge loss, dual"},
	} {
		pair(c.set+"-"+c.solver, fmt.Sprintf("%s, `-s %s`: %s", c.set, c.solver, c.name),
			fmt.Sprintf("GOMAXPROCS=1 mercer liblinear-train -q -s %s $WORK/%s $WORK/ours.model", c.solver, c.set),
			fmt.Sprintf("liblinear-train -q -s %s $WORK/%s $WORK/theirs.model", c.solver, c.set), "liblinear-train")
	}
	return t
}

// bounded are learners beside what they cannot be faster than.
func (out *section) bounded(s sizes) table {
	d := s.n(4096, 128)
	out.turns(command{"falkon", goBench("./internal/solve/exact", "Falkon", s.threads, s.text("2x", "1x")), readGo(s.threads)})
	out.turns(command{"pass", goBench("./internal/solve/learn", "PrimalPass", s.threads, s.text("5x", "1x")), readGo(s.threads)})
	out.groups = append(out.groups, group{once: true, commands: []command{
		{"covtype", fmt.Sprintf("mercer train $DATA/covtype/covtype.sample403k.data.gz --header no --task classify "+
			"--map sorf --features %d --learner ridge --lambda 1 --threads %d --json -o $WORK/m.mercer", d, s.threads), readJSON},
		{"syrkwide", fmt.Sprintf("mercer bench --json%s --only syrkwide --threads %d", s.text("", " --quick"), s.threads), readBench},
	}})
	rate := func(id, name string) cell {
		return value{metric: metric{id, name + " MB/s"}, scale: 1e-3, format: tenths, unit: " GB/s"}
	}
	// A row takes d² operations of one triangle of ZᵀZ, which is what the rate of syrkwide counts.
	rows := metric{"covtype", "seconds.collect"}
	product := metric{"syrkwide", fmt.Sprintf("syrkwide %dx%d @%d", s.n(4096, 256), s.n(4096, 256), s.threads)}
	work := 403_388 * float64(d) * float64(d) / 1e9
	return table{
		intro: "Learners beside what bounds them:",
		head:  []string{"work", "Mercer", "bound"},
		rows: [][]cell{
			{label("Falkon, 20,000 rows of covtype, 2,000 centres"), seconds("falkon", "Falkon s/fit"),
				phrase{seconds("falkon", "Falkon s/products"), label(", its products and factorisations alone")}},
			{label("a pass of logistic regression over 60,000 × 4,096, 1 output"), rate("pass", "PrimalPass/logistic2"),
				phrase{rate("pass", "PrimalPass/read"), label(", reading alone")}},
			{label("the same, 10 outputs"), rate("pass", "PrimalPass/logistic10"), label("arithmetic")},
			{label(fmt.Sprintf("covtype, 403,388 rows by `sorf` to %s features, moments for a ridge regression", units.Count(d))),
				phrase{perSecond{rows, work}, label(" GFLOP/s")}, phrase{val(product.id, product.key), label(" GFLOP/s, the product ZᵀZ alone")}},
		},
	}
}
