package papers

import (
	"context"
	"fmt"

	"mercer/feature"
	"mercer/matrix"
)

// The tables of distortions do not say how pixels were scaled. With pixels in [-1, 1] the
// data-dependent methods give the printed results, with [0, 1] or standardised pixels they do not.
const pixels = "Pixels are scaled to [-1, 1]: the paper does not say how, but so its KG-RP and D2PK-RP figures come out."

func explicit(entries string, s float64) feature.Config {
	return feature.Config{Map: "explicit-rp", Options: feature.Options{Entries: entries, Sparsity: s}}
}

func d2pk(t int) feature.Config {
	return feature.Config{Map: "d2pk-rp", Options: feature.Options{T: t, Sparsity: 1}}
}

func pk(entries string, s float64, pool int) feature.Config {
	return feature.Config{Map: "pk-rp", Options: feature.Options{Entries: entries, Sparsity: s, Pool: pool, T: 30, Reuse: "random"}}
}

func kg(pool, t int) feature.Config {
	return feature.Config{Map: "kg-rp", Options: feature.Options{Pool: pool, T: t}}
}

// LS18: D. López-Sánchez, J. M. Corchado, A. González Arrieta, Data-independent random
// projections from the feature-map of the homogeneous polynomial kernel of degree two, 2018.
// What it leaves open is in the thesis that repeats it, LS19, section 3.4: s = 1, and t = 10
// for KG-RP. Its m is t here, and its p is m.
func lopez2018() []*Table {
	methods := func(figures ...string) []method {
		list := []method{
			{name: "φ + RP, normal", cfg: explicit("normal", 0)},
			{name: "D2PK-RP, t = 1", cfg: d2pk(1)},
			{name: "D2PK-RP, t = 2", cfg: d2pk(2)},
			{name: "D2PK-RP, t = 10", cfg: d2pk(10)},
			{name: "D2PK-RP, t = 30", cfg: d2pk(30)},
		}
		for i := range list {
			list[i].theirs = figures[i]
		}
		return list
	}
	kulis := func(list []method, pool int, figures string) []method {
		return append(list, method{fmt.Sprintf("KG-RP, m = %d", pool), figures, kg(pool, 10)})
	}
	description := distortions{degree: 2, dims: []int{40, 80, 120, 160}, rows: 200}

	cifar := description
	cifar.methods = methods(
		"0.177±0.007 0.122±0.003 0.103±0.004 0.090±0.003",
		"0.386±0.040 0.277±0.022 0.239±0.035 0.239±0.033",
		"0.294±0.025 0.212±0.018 0.170±0.009 0.147±0.006",
		"0.204±0.008 0.145±0.007 0.119±0.006 0.101±0.005",
		"0.188±0.016 0.132±0.005 0.109±0.004 0.091±0.002")
	cifar.methods = kulis(cifar.methods, 669, "0.438±0.027 0.431±0.030 0.430±0.019 0.424±0.010")
	cifar.methods = kulis(cifar.methods, 1338, "0.357±0.019 0.348±0.024 0.335±0.020 0.339±0.013")
	cifar.methods = kulis(cifar.methods, 2007, "0.323±0.027 0.305±0.018 0.292±0.014 0.291±0.015")
	cifar.open = func(_ context.Context, dir string) (func(int, uint64) (matrix.Rows, matrix.Rows), error) {
		x, err := cifar10(dir)
		return func(n int, seed uint64) (test, train matrix.Rows) { return part(x, n, seed) }, err
	}

	spoken := description
	spoken.methods = methods(
		"0.174±0.004 0.123±0.007 0.102±0.005 0.089±0.008",
		"0.361±0.086 0.245±0.041 0.215±0.028 0.179±0.038",
		"0.279±0.022 0.192±0.017 0.155±0.008 0.139±0.019",
		"0.196±0.010 0.139±0.009 0.114±0.007 0.100±0.007",
		"0.181±0.008 0.132±0.009 0.107±0.004 0.092±0.003")
	spoken.methods = kulis(spoken.methods, 234, "0.344±0.026 0.349±0.028 0.348±0.017 0.335±0.02")
	spoken.methods = kulis(spoken.methods, 468, "0.283±0.029 0.250±0.017 0.257±0.018 0.269±0.02")
	spoken.methods = kulis(spoken.methods, 702, "0.243±0.025 0.222±0.019 0.219±0.017 0.204±0.022")
	spoken.open = func(ctx context.Context, dir string) (func(int, uint64) (matrix.Rows, matrix.Rows), error) {
		train, all, err := isolet(ctx, dir)
		return func(n int, seed uint64) (matrix.Rows, matrix.Rows) { return draw(all, n, seed, "rows"), train }, err
	}
	return []*Table{
		cifar.table(Table{
			Name:   "LS18-1",
			Cost:   35,
			Title:  "Distances in the feature space of (x·y)², CIFAR-10",
			Source: "López-Sánchez, Corchado, González Arrieta 2018, table 1: mean ± standard deviation of 10 runs",
			Protocol: "200 random images, all pairs; D2PK-RP with s = 1, KG-RP with t = 10 on m of the other images " +
				"(the paper: of 50,000; here of the 3,800 others of the 4,000 at hand). " +
				pixels,
			Data: "cifar10",
		}),
		spoken.table(Table{
			Name:   "LS18-2",
			Cost:   3,
			Title:  "Distances in the feature space of (x·y)², ISOLET",
			Source: "López-Sánchez, Corchado, González Arrieta 2018, table 2: mean ± standard deviation of 10 runs",
			Protocol: "200 random rows of all 7,797, as they are in the file, all pairs; D2PK-RP with s = 1, KG-RP " +
				"with t = 10 on m rows of the training part.",
			Data: "isolet",
		}),
	}
}

// LS19: D. López-Sánchez, Low Computational Cost Machine Learning (thesis), chapter 4. Its p
// is m here, its g the degree.
func lopez2019() []*Table {
	digits := func(degree int, methods []method) distortions {
		return distortions{degree: degree, dims: []int{200, 500, 1000}, rows: 500, methods: methods,
			open: func(ctx context.Context, dir string) (func(int, uint64) (matrix.Rows, matrix.Rows), error) {
				train, test, err := mnist(ctx, dir)
				return func(n int, seed uint64) (matrix.Rows, matrix.Rows) { return draw(test, n, seed, "rows"), train }, err
			}}
	}
	web := func(degree int, methods []method) distortions {
		return distortions{degree: degree, dims: []int{200, 500, 1000}, rows: 500, methods: methods,
			open: func(ctx context.Context, dir string) (func(int, uint64) (matrix.Rows, matrix.Rows), error) {
				x, err := w8a(ctx, dir)
				return func(n int, seed uint64) (test, train matrix.Rows) { return part(x, n, seed) }, err
			}}
	}
	seconds := map[string]float64{"4.2": 55, "4.3": 15, "4.8": 10, "4.9": 3}
	table := func(number, title string) Table {
		return Table{Name: "LS19-" + number, Title: title, Cost: seconds[number],
			Source: "López-Sánchez 2019 (thesis), table " + number + ": mean ± standard deviation of 10 runs"}
	}
	const (
		common = "500 random test rows, all pairs of rows that differ. D2PK-RP with t = 30 and s = 1; PK-RP with t = " +
			"30 and, for each output, vectors drawn at random from a pool of m; KG-RP with t = 30 and m training " +
			"rows; Nyström with D of them. "
		heldOut = "The rows are zeros and ones, as they are in the file. Test rows are held out of the training part, " +
			"since the test part is not at hand."
	)
	one := table("4.2", "Distances in the feature space of (x·y)², MNIST")
	one.Data, one.Protocol = "mnist", common+pixels
	two := table("4.3", "Distances in the feature space of (x·y)³, MNIST")
	two.Data, two.Protocol = "mnist", common+pixels
	three := table("4.8", "Distances in the feature space of (x·y)², w8a")
	three.Data, three.Protocol = "w8a", common+heldOut
	four := table("4.9", "Distances in the feature space of (x·y)³, w8a")
	four.Data, four.Protocol = "w8a", common+heldOut
	landmarks := feature.Config{Map: "nystrom"}
	return []*Table{
		digits(2, []method{
			{"φ + RP, normal", "0.079±0.002 0.050±0.002 0.035±0.001", explicit("normal", 0)},
			{"φ + RP, s = 1", "0.080±0.003 0.051±0.002 0.036±0.001", explicit("sparse", 1)},
			{"φ + RP, s = 3", "0.080±0.002 0.050±0.002 0.036±0.001", explicit("sparse", 3)},
			{"Nyström (baseline)", "0.259±0.002 0.155±0.001 0.101±0.001", landmarks},
			{"D2PK-RP", "0.085±0.002 0.054±0.002 0.038±0.001", d2pk(30)},
			{"PK-RP normal, m = 16000", "0.082±0.004 0.053±0.002 0.038±0.002", pk("normal", 0, 16000)},
			{"PK-RP normal, m = 8000", "0.083±0.003 0.055±0.003 0.040±0.002", pk("normal", 0, 8000)},
			{"PK-RP normal, m = 3000", "0.087±0.003 0.056±0.002 0.046±0.005", pk("normal", 0, 3000)},
			{"PK-RP normal, m = 976", "0.092±0.007 0.079±0.018 0.059±0.007", pk("normal", 0, 976)},
			{"PK-RP s = 1, m = 976", "0.094±0.004 0.068±0.008 0.059±0.008", pk("sparse", 1, 976)},
			{"PK-RP s = 3, m = 976", "0.098±0.007 0.072±0.009 0.060±0.008", pk("sparse", 3, 976)},
			{"KG-RP, m = 976", "0.141±0.013 0.127±0.011 0.130±0.006", kg(976, 30)},
			{"PK-RP normal, m = 488", "0.106±0.008 0.102±0.029 0.095±0.038", pk("normal", 0, 488)},
			{"PK-RP s = 1, m = 488", "0.101±0.004 0.088±0.012 0.082±0.017", pk("sparse", 1, 488)},
			{"PK-RP s = 3, m = 488", "0.113±0.015 0.095±0.019 0.092±0.021", pk("sparse", 3, 488)},
			{"KG-RP, m = 488", "0.207±0.019 0.211±0.005 0.210±0.004", kg(488, 30)},
			{"PK-RP normal, m = 244", "0.120±0.006 0.106±0.018 0.112±0.024", pk("normal", 0, 244)},
			{"PK-RP s = 1, m = 244", "0.132±0.018 0.126±0.028 0.101±0.020", pk("sparse", 1, 244)},
			{"PK-RP s = 3, m = 244", "0.122±0.010 0.116±0.027 0.118±0.027", pk("sparse", 3, 244)},
			{"KG-RP, m = 244", "0.329±0.014 0.329±0.006 0.328±0.005", kg(244, 30)},
			{"PK-RP normal, m = 122", "0.177±0.052 0.151±0.027 0.135±0.014", pk("normal", 0, 122)},
			{"PK-RP s = 1, m = 122", "0.152±0.028 0.136±0.013 0.159±0.038", pk("sparse", 1, 122)},
			{"PK-RP s = 3, m = 122", "0.177±0.046 0.150±0.033 0.159±0.027", pk("sparse", 3, 122)},
			{"KG-RP, m = 122", "? ? ?", kg(122, 30)},
		}).table(one),
		digits(3, []method{
			{"Nyström (baseline)", "? 0.255±0.001 0.187±0.001", landmarks},
			{"PK-RP normal, m = 976", "0.119±0.019 0.095±0.023 0.092±0.031", pk("normal", 0, 976)},
			{"PK-RP s = 1, m = 976", "0.109±0.009 0.092±0.018 0.080±0.016", pk("sparse", 1, 976)},
			{"PK-RP s = 3, m = 976", "0.114±0.020 0.117±0.057 0.088±0.032", pk("sparse", 3, 976)},
			{"KG-RP, m = 976", "0.215±0.008 0.212±0.008 0.214±0.006", kg(976, 30)},
			{"PK-RP normal, m = 488", "0.153±0.031 0.131±0.040 0.108±0.046", pk("normal", 0, 488)},
			{"PK-RP s = 1, m = 488", "0.148±0.035 0.127±0.041 0.110±0.024", pk("sparse", 1, 488)},
			{"PK-RP s = 3, m = 488", "0.134±0.031 0.124±0.026 0.131±0.055", pk("sparse", 3, 488)},
			{"KG-RP, m = 488", "0.298±0.012 0.306±0.006 0.305±0.008", kg(488, 30)},
			{"PK-RP normal, m = 244", "0.164±0.025 0.141±0.036 0.168±0.066", pk("normal", 0, 244)},
			{"PK-RP s = 1, m = 244", "0.192±0.075 0.162±0.053 0.159±0.053", pk("sparse", 1, 244)},
			{"PK-RP s = 3, m = 244", "0.209±0.097 0.169±0.040 0.149±0.049", pk("sparse", 3, 244)},
			{"KG-RP, m = 244", "? ? ?", kg(244, 30)},
			{"PK-RP normal, m = 122", "0.249±0.064 0.250±0.112 0.241±0.083", pk("normal", 0, 122)},
			{"PK-RP s = 1, m = 122", "0.253±0.080 0.247±0.119 0.241±0.090", pk("sparse", 1, 122)},
			{"PK-RP s = 3, m = 122", "0.232±0.093 0.213±0.038 0.271±0.172", pk("sparse", 3, 122)},
			{"KG-RP, m = 122", "? ? ?", kg(122, 30)},
		}).table(two),
		web(2, []method{
			{"φ + RP, normal", "0.079±0.003 0.051±0.002 0.036±0.001", explicit("normal", 0)},
			{"φ + RP, s = 1", "0.077±0.002 0.049±0.001 0.035±0.001", explicit("sparse", 1)},
			{"φ + RP, s = 3", "0.079±0.001 0.050±0.001 0.036±0.001", explicit("sparse", 3)},
			{"Nyström (baseline)", "? ? ?", landmarks},
			{"D2PK-RP", "0.131±0.005 0.112±0.003 0.107±0.003", d2pk(30)},
			{"PK-RP normal, m = 892", "0.105±0.005 0.084±0.004 0.078±0.002", pk("normal", 0, 892)},
			{"PK-RP s = 1, m = 892", "0.103±0.002 0.080±0.004 0.071±0.005", pk("sparse", 1, 892)},
			{"PK-RP s = 3, m = 892", "0.107±0.003 0.085±0.004 0.079±0.005", pk("sparse", 3, 892)},
			{"KG-RP, m = 892", "? ? ?", kg(892, 30)},
			{"PK-RP normal, m = 446", "0.126±0.009 0.109±0.005 0.099±0.005", pk("normal", 0, 446)},
			{"PK-RP s = 1, m = 446", "0.126±0.005 0.104±0.005 0.098±0.008", pk("sparse", 1, 446)},
			{"PK-RP s = 3, m = 446", "0.127±0.006 0.107±0.006 0.101±0.005", pk("sparse", 3, 446)},
			{"KG-RP, m = 446", "? ? ?", kg(446, 30)},
			{"PK-RP normal, m = 223", "0.157±0.008 0.141±0.005 0.142±0.008", pk("normal", 0, 223)},
			{"PK-RP s = 1, m = 223", "0.152±0.009 0.135±0.006 0.132±0.010", pk("sparse", 1, 223)},
			{"PK-RP s = 3, m = 223", "0.154±0.008 0.151±0.015 0.138±0.005", pk("sparse", 3, 223)},
			{"KG-RP, m = 223", "? ? ?", kg(223, 30)},
			{"PK-RP normal, m = 111", "0.218±0.031 0.203±0.016 0.191±0.008", pk("normal", 0, 111)},
			{"PK-RP s = 1, m = 111", "0.195±0.009 0.183±0.008 0.179±0.008", pk("sparse", 1, 111)},
			{"PK-RP s = 3, m = 111", "0.218±0.017 0.194±0.014 0.200±0.009", pk("sparse", 3, 111)},
			{"KG-RP, m = 111", "? ? ?", kg(111, 30)},
		}).table(three),
		web(3, []method{
			{"Nyström (baseline)", "? ? ?", landmarks},
			{"PK-RP normal, m = 892", "0.135±0.009 0.127±0.013 0.112±0.006", pk("normal", 0, 892)},
			{"PK-RP s = 1, m = 892", "0.133±0.008 0.114±0.005 0.105±0.004", pk("sparse", 1, 892)},
			{"PK-RP s = 3, m = 892", "0.144±0.007 0.121±0.006 0.111±0.007", pk("sparse", 3, 892)},
			{"KG-RP, m = 892", "? ? ?", kg(892, 30)},
			{"PK-RP normal, m = 446", "0.170±0.009 0.161±0.011 0.158±0.008", pk("normal", 0, 446)},
			{"PK-RP s = 1, m = 446", "0.161±0.009 0.145±0.004 0.140±0.009", pk("sparse", 1, 446)},
			{"PK-RP s = 3, m = 446", "0.171±0.010 0.162±0.010 0.150±0.009", pk("sparse", 3, 446)},
			{"KG-RP, m = 446", "? ? ?", kg(446, 30)},
			{"PK-RP normal, m = 223", "0.241±0.020 0.224±0.026 0.219±0.024", pk("normal", 0, 223)},
			{"PK-RP s = 1, m = 223", "0.213±0.010 0.209±0.014 0.199±0.009", pk("sparse", 1, 223)},
			{"PK-RP s = 3, m = 223", "0.228±0.012 0.221±0.012 0.218±0.024", pk("sparse", 3, 223)},
			{"KG-RP, m = 223", "? ? ?", kg(223, 30)},
			{"PK-RP normal, m = 111", "0.320±0.030 0.302±0.021 0.310±0.028", pk("normal", 0, 111)},
			{"PK-RP s = 1, m = 111", "0.290±0.020 0.284±0.025 0.298±0.040", pk("sparse", 1, 111)},
			{"PK-RP s = 3, m = 111", "0.336±0.033 0.296±0.016 0.294±0.014", pk("sparse", 3, 111)},
			{"KG-RP, m = 111", "? ? ?", kg(111, 30)},
		}).table(four),
	}
}
