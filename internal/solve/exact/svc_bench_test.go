package exact

import (
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
)

// BenchmarkSVC is C-SVC, one against one, on the first 10,000 rows of MNIST with pixels through
// 255. LIBSVM's beside it is svm-train -m 1000 -c 10 -g 0.025 on the same rows.
func BenchmarkSVC(b *testing.B) {
	images, labels := testenv.Data(b, "mnist/train-images-idx3-ubyte.gz"), testenv.Data(b, "mnist/train-labels-idx1-ubyte.gz")
	src, err := dataset.Open(ctx, images, dataset.Options{LabelsFile: labels})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	all, err := dataset.Collect(ctx, src, 784)
	if err != nil {
		b.Fatal(err)
	}
	first := all.Slice(0, 10_000)
	x := first.X
	for i := range x.Dense.Data[:10_000*x.Dense.Stride] {
		x.Dense.Data[i] /= 255
	}
	class := make([]int, 10_000)
	for i, y := range first.Y {
		class[i] = int(y)
	}
	b.ResetTimer()
	for b.Loop() {
		_, r, err := FitSVC(ctx, kernel.Kernel{Name: "rbf", Gamma: 0.025}, x, class, 10, SVM{C: 10})
		if err != nil || !r.Converged {
			b.Fatal(err)
		}
		sum := 0.0
		for _, o := range r.Objective {
			sum += o
		}
		b.ReportMetric(sum, "objective")
		b.ReportMetric(float64(r.KernelRows), "kernel-rows")
	}
}
