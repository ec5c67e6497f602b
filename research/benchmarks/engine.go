package main

import (
	"fmt"
	"strings"
)

// engine are the loops of internal/engine/vec beside OpenBLAS, NumPy and FFTW.
func engine(s sizes) *section {
	out := &section{
		name:  "engine",
		title: "The vector engine",
		intro: "`mercer bench` measures every kernel of `internal/engine/vec` and, by turns, what this machine can do at most, so that a share of the " +
			"peak means the same on a slow day. OpenBLAS is called through NumPy and SciPy and told the processor as which it is fastest.",
	}
	bench := "mercer bench --json" + s.text("", " --quick")
	out.tables = []table{out.products(s, bench), out.functions(bench), out.transforms(s, bench)}
	return out
}

// products are products of matrices and what is made of them, on one thread and on all.
func (out *section) products(s sizes, bench string) table {
	n := s.threads
	t := table{
		intro: fmt.Sprintf("GFLOP/s on one thread and on %d.", n),
		head: []string{"", "1 thread", "of the peak", "OpenBLAS", "times as fast",
			fmt.Sprintf("%d threads", n), "of the peak", "OpenBLAS", "times as fast"},
	}
	shape := func(sizes ...int) string {
		var text []string
		for _, n := range sizes {
			text = append(text, fmt.Sprint(s.n(n, max(1, n/16)))) // as mercer bench --quick has them
		}
		return strings.Join(text, "x")
	}
	gemm := []string{shape(4096, 784, 4096), shape(4096, 64, 4096), shape(1024, 22, 1024)}
	square := []string{shape(4096, 4096)}
	threads := "1"
	if n > 1 {
		threads += fmt.Sprintf(",%d", n)
	}
	for _, c := range []struct {
		name, what string
		shapes     []string
		peer       bool
	}{
		{"sgemm", "product, float32", gemm, true},
		{"dgemm", "product, float64", gemm, true},
		{"ssyrk", "ZᵀZ, float32", square, true},
		{"dsyrk", "ZᵀZ, float64", square, true},
		{"syrkwide", "ZᵀZ of float32, added up in float64", square, false},
		{"dpotrf", "Cholesky, float64", square, true},
		{"dsyev", "eigenvectors, float64", []string{shape(1024, 1024), shape(2048, 2048)}, true},
	} {
		commands := []command{{c.name, fmt.Sprintf("%s --only %s --threads %d", bench, c.name, n), readBench}}
		peer := c.name + "/openblas"
		if c.peer {
			line := python("blas.py", "%s --shapes %s --threads %s", c.name, strings.Join(c.shapes, ","), threads)
			commands = append(commands, command{peer, line, readJSON})
		}
		out.turns(commands...)
		for _, shape := range c.shapes {
			row := []cell{label(c.what + ", " + strings.ReplaceAll(shape, "x", "×"))}
			for _, at := range []int{1, n} {
				key := fmt.Sprintf("%s %s @%d", c.name, shape, at)
				row = append(row, val(c.name, key), share(c.name, key))
				if c.peer {
					row = append(row, val(peer, key), ratio{ours: metric{c.name, key}, theirs: metric{peer, key}, rate: true})
				} else {
					row = append(row, nothing, nothing)
				}
			}
			t.add(row...)
		}
	}
	out.turns(command{"avx2", "MERCER_CPU=avx2 " + bench + " --only sgemm,dgemm --threads 1", readBench})
	for _, name := range []string{"sgemm", "dgemm"} {
		key := name + " " + gemm[0] + " @1"
		what := label(name + " with AVX2 alone, " + strings.ReplaceAll(gemm[0], "x", "×"))
		t.add(what, val("avx2", key), share("avx2", key), nothing, nothing, nothing, nothing, nothing, nothing)
	}
	return t
}

// functions are elementary functions.
func (out *section) functions(bench string) table {
	t := table{
		intro: "Elementary functions of numbers in the cache, one thread, nanoseconds a number. " +
			"Shares count the instructions that the method needs.",
		head: []string{"function", "Mercer", "of the peak", "NumPy", "times as fast"},
	}
	const ours, theirs = "functions", "functions/numpy"
	out.turns(
		command{ours, bench + " --only cos32,sincos32,exp32,cos64,sincos64,exp64 --threads 1", readBench},
		command{theirs, python("functions.py", "--numbers 16384"), readJSON})
	for _, name := range []string{"cos", "sincos", "exp"} {
		for _, bits := range []string{"32", "64"} {
			key := name + bits + " 2048 @1"
			t.add(label(name+", float"+bits), val(ours, key), share(ours, key), val(theirs, name+bits), faster(ours, key, theirs, name+bits))
		}
	}
	return t
}

// transforms are Walsh-Hadamard's and Fourier's, and the maps that rest on them.
func (out *section) transforms(s sizes, bench string) table {
	t := table{
		intro: "Transforms of float32, and whole maps whose output stays in the cache; one thread. FFTW's plans are made by `FFTW_PATIENT`.",
		head:  []string{"", "Mercer", "of the peak", "FFTW", "times as fast"},
	}
	lengths := []string{"1024", "4096", "16384"}
	out.turns(
		command{"fft", bench + " --only rfft32,irfft32 --threads 1", readBench},
		command{"fft/fftw", python("fft.py", "--lengths %s", strings.Join(lengths, ",")), readJSON})
	out.turns(command{"transforms", bench + " --only fwht32,rff,sorf,fastfood --threads 1", readBench})
	for _, n := range lengths {
		key := "fwht32 " + n + " @1"
		t.add(label("Walsh-Hadamard, "+n), phrase{val("transforms", key), label(" ns")}, share("transforms", key), nothing, nothing)
	}
	for _, c := range [][2]string{{"rfft32", "real Fourier"}, {"irfft32", "its inverse"}} {
		for _, n := range lengths {
			key, theirs := c[0]+" "+n+" @1", c[0]+" "+n
			t.add(label(c[1]+", "+n), phrase{val("fft", key), label(" ns")}, share("fft", key),
				phrase{val("fft/fftw", theirs), label(" ns")}, faster("fft", key, "fft/fftw", theirs))
		}
	}
	rff := fmt.Sprintf("784->%d", 2*s.n(2048, 128))
	for _, c := range [][2]string{{"rff", rff}, {"sorf", "784->4096"}, {"fastfood", "1024->16384"}} {
		key := c[0] + " " + c[1] + " @1"
		t.add(label(fmt.Sprintf("`%s` %s", c[0], strings.ReplaceAll(c[1], "->", "→"))), phrase{val("transforms", key), label(" µs a row")},
			share("transforms", key), nothing, nothing)
	}
	return t
}
