package kernel

import (
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/spelling"
)

// foreign says of names that other programs and papers have for kernels what they are here. Names are
// in small letters, without anything in between.
var foreign = map[string]string{
	"gaussian":              "it is called rbf here",
	"gauss":                 "it is called rbf here",
	"radial":                "it is called rbf here",
	"radialbasisfunction":   "it is called rbf here",
	"squaredexponential":    "it is called rbf here",
	"polynomial":            "it is called poly here",
	"quadratic":             "it is poly of degree 2",
	"cubic":                 "it is poly of degree 3",
	"dot":                   "it is called linear here",
	"dotproduct":            "it is called linear here",
	"innerproduct":          "it is called linear here",
	"identity":              "it is called linear here",
	"none":                  "the kernel of the rows themselves is linear",
	"laplace":               "it is called laplacian here",
	"l1":                    "exp(-γ‖x-y‖₁) is called laplacian here",
	"exponential":           "exp(-‖x-y‖/σ) is matern with nu 0.5, and exp(γ x·y) is exp",
	"exponentialdotproduct": "it is called exp here",
	"ornsteinuhlenbeck":     "it is matern with nu 0.5",
	"matern12":              "it is matern with nu 0.5",
	"matern32":              "it is matern with nu 1.5",
	"matern52":              "it is matern with nu 2.5",
	"additivechi2":          "it is called chi2 here (2xy/(x+y), of which -(x-y)²/(x+y) is the negative squared distance)",
	"chisquared":            "Σ 2xy/(x+y) is called chi2 here, and exp(-γ Σ(x-y)²/(x+y)) exp-chi2",
	"chisquare":             "Σ 2xy/(x+y) is called chi2 here, and exp(-γ Σ(x-y)²/(x+y)) exp-chi2",
	"exponentialchi2":       "it is called exp-chi2 here",
	"rbfchi2":               "it is called exp-chi2 here",
	"chi2rbf":               "it is called exp-chi2 here",
	"histogramintersection": "it is called intersection here",
	"hik":                   "it is called intersection here",
	"min":                   "it is called intersection here",
	"minimum":               "it is called intersection here",
	"bhattacharyya":         "it is called hellinger here",
	"js":                    "it is called jensen-shannon here",
	"arccosine":             "it is called arccos here",
	"relu":                  "an infinitely wide layer of max(0, ·) is arccos of degree 1",
	"sigmoid":               noSigmoid,
	"tanh":                  noSigmoid,
	"neuraltangent":         "there is none; take arccos, which is an infinitely wide layer of a neural network",
	"ntk":                   "there is none; take arccos, which is an infinitely wide layer of a neural network",
	"cosine":                "there is none of its own; take linear on rows of length 1 (scaling l2)",
	"cosinesimilarity":      "there is none of its own; take linear on rows of length 1 (scaling l2)",
	"rationalquadratic":     "there is none; take matern with a small nu, or cauchy, for heavy tails",
	"studentt":              "there is none; take matern with a small nu, or cauchy, for heavy tails",
	"inversemultiquadric":   "there is none; take matern with a small nu, or cauchy, for heavy tails",
	"multiquadric":          "there is none, since it is not positive definite; take matern with a small nu, or cauchy",
	"periodic":              "there is none; give the columns sin and cos of the period to rbf",
	"expsinesquared":        "there is none; give the columns sin and cos of the period to rbf",
	"tanimoto":              "there is none; take intersection, or linear for columns of 0 and 1",
	"jaccard":               "there is none; take intersection, or linear for columns of 0 and 1",
	"minmax":                "there is none; take intersection, or linear for columns of 0 and 1",
	"skewedmultiplicative":  "they are called skewed-chi2 and skewed-intersection here",
	"hyperbolicsecant":      "on log(x+c) it is called skewed-chi2 here",
	"thinplate":             "there is none, since it is not positive definite; take matern",
	"anova":                 "there is none; take poly for products of columns, or chi2 for sums over columns of numbers ≥ 0",
}

const noSigmoid = "there is none, since tanh(γ x·y + c) is no positive definite kernel; " +
	"take arccos, which is an infinitely wide layer of a neural network, or rbf"

// unknown says of a name that it is no kernel's, what it is called here or may have been meant for,
// and which there are.
func unknown(name string) string {
	return fmt.Sprintf("%q is not a kernel; %sknown are %s", name, meant(name), strings.Join(Names(), ", "))
}

// meant is what may have been meant by a name.
func meant(name string) string {
	squeeze := strings.NewReplacer("_", "", "-", "", " ", "", "/", "")
	plain := squeeze.Replace(strings.ToLower(name))
	plain = strings.TrimSuffix(strings.TrimPrefix(plain, "kernel"), "kernel")
	for _, k := range kinds {
		if squeeze.Replace(k.name) == plain {
			return "did you mean " + k.name + "? "
		}
	}
	if text := foreign[plain]; text != "" {
		return text + "; "
	}
	if near := spelling.Near(name, Names()); near != "" {
		return "did you mean " + near + "? "
	}
	others := make([]string, 0, len(foreign))
	for other := range foreign {
		others = append(others, other)
	}
	slices.Sort(others)
	if near := spelling.Near(plain, others); near != "" {
		return "did you mean " + near + "? " + foreign[near] + "; "
	}
	return ""
}
