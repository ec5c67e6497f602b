package main

import (
	"fmt"

	"mercer/internal/engine/units"
)

// trainings are whole trainings as a user runs them.
func trainings(s sizes) *section {
	out := &section{
		name:  "trainings",
		title: "Whole trainings",
		intro: "`mercer train` from files to a model and its test, with everything chosen by the data but what the row says. " +
			"Seconds are `seconds.total` of `--json`, memory its `peak_rss_bytes`.",
		files: []file{
			{"letter.tr", `zcat "$DATA/letter/letter-recognition.data.gz" | head -n 16000 > "$WORK/letter.tr"`},
			{"letter.te", `zcat "$DATA/letter/letter-recognition.data.gz" | tail -n 4000 > "$WORK/letter.te"`},
		},
	}
	images, labels, files := mnist(s.n(60_000, 1000))
	out.make(files...)
	digits := fmt.Sprintf("%s --labels %s %s", images, labels, mnistTest)
	few := s.text("", " --features 64")
	t := table{head: []string{"data", "asked", "learner", "result", "seconds", "memory"}}
	for _, c := range []struct{ id, data, asked, line string }{
		{"a9a", "a9a, 32,561 × 123", "",
			"$DATA/a9a/a9a.gz --test $DATA/a9a/a9a.t.gz" + few},
		{"letter", "letter, first 16,000 × 16", "",
			"$WORK/letter.tr --label 0 --test $WORK/letter.te" + few},
		{"ijcnn1", "ijcnn1, 49,990 × 22", "",
			"$DATA/ijcnn1/ijcnn1.trn.bz2 --test $DATA/ijcnn1/ijcnn1.tst.bz2" + few},
		{"california", "California housing, four fifths of 20,640 × 8", "",
			"$DATA/california_housing/cal_housing.data.gz --holdout 0.2" + few},
		{"covtype", "covtype, nine tenths of 403,388 × 54", "",
			"$DATA/covtype/covtype.sample403k.data.gz --header no --task classify --holdout 0.1" + few},
		{"mnist", "MNIST, 60,000 × 784", "",
			digits + few},
		{"machine", "MNIST", "the kernel itself, C = 10",
			digits + " --learner kernel-svm --c 10 --gamma 0.025 --scale global"},
	} {
		line := "mercer train " + c.line + " --json -o $WORK/m.mercer"
		out.groups = append(out.groups, group{once: c.id == "machine", commands: []command{{c.id, line, readJSON}}})
		var result cell = phrase{percent(c.id, "error"), label(" wrong")}
		if c.id == "california" {
			result = phrase{label("RMSE "), value{metric: metric{c.id, "rmse"}, format: integer}}
		}
		t.add(label(c.data), label(c.asked), word{metric{c.id, "trained.training.learner"}}, result,
			seconds(c.id, "seconds.total"), megabytes(c.id, "peak_rss_bytes"))
	}
	out.tables = []table{t}
	return out
}

// scikitLearn are the same pipelines here and there.
func scikitLearn(s sizes) *section {
	out := &section{
		name:  "scikit-learn",
		title: "Against scikit-learn",
		intro: fmt.Sprintf("MNIST's images from files to a tested model, %d threads each: random Fourier features of σ = 8.27, ", s.threads) +
			"or landmarks of Nyström's method, and a linear model. scikit-learn has RBFSampler or Nystroem, then " +
			"RidgeClassifier(alpha=0.01, solver=\"cholesky\") or LinearSVC(C=1, dual=True), in float32; " +
			"loading its modules is not timed. Mercer also writes its model.",
		notes: "The error of one random map differs from that of another by a tenth of a point, here and there.",
	}
	t := table{head: []string{"pipeline", "rows", "Mercer", "wrong", "scikit-learn", "wrong", "times as fast"}}
	for _, c := range []struct {
		id, name, flags string
		peer            string
		rows, features  int
	}{
		{"ridge", "%s features, ridge, λ = 0.01", "--learner ridge --lambda 0.01", "ridge", s.n(60_000, 1000), s.n(4096, 128)},
		{"svm", "%s features, SVM, C = 1", "--learner svm --c 1", "svm", s.n(20_000, 1000), s.n(4096, 128)},
		{"nystrom", "%s landmarks, ridge, λ = 0.01", "--map nystrom --learner ridge --lambda 0.01",
			"nystroem", s.n(60_000, 1000), s.n(1000, 64)},
	} {
		images, labels, files := mnist(c.rows)
		out.make(files...)
		ours := fmt.Sprintf("mercer train %s --labels %s %s --scale global --sigma 8.27 --features %d %s --threads %d --json -o $WORK/m.mercer",
			images, labels, mnistTest, c.features, c.flags, s.threads)
		theirs := python("pipeline.py", "%s --images %s --labels %s --test-images %s --test-labels %s --sigma 8.27 --features %d --threads %d",
			c.peer, images, labels, mnistTestImages, mnistTestLabels, c.features, s.threads)
		peer := c.id + "/scikit-learn"
		out.turns(command{c.id, ours, readJSON}, command{peer, theirs, readJSON})
		t.add(label(fmt.Sprintf(c.name, units.Count(c.features))), label(units.Count(c.rows)),
			seconds(c.id, "seconds.total"), percent(c.id, "error"),
			seconds(peer, "seconds.total"), percent(peer, "error"), faster(c.id, "seconds.total", peer, "seconds.total"))
	}
	out.tables = []table{t}
	return out
}
