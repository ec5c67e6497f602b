package feature

import (
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/spelling"
	"mercer/kernel"
)

// foreign translates the names that other programs and papers have for maps. Names
// are in lower case, without separators.
var foreign = map[string]string{
	"fourier":                  "it is called rff here; orf and sorf have less error",
	"randomfourier":            "it is called rff here; orf and sorf have less error",
	"randomfourierfeatures":    "it is called rff here; orf and sorf have less error",
	"rks":                      "it is called rff here; orf and sorf have less error",
	"randomkitchensinks":       "it is called rff here; orf and sorf have less error",
	"rbfsampler":               "it is called rff here (form phase); orf and sorf have less error",
	"orthogonal":               "it is called orf here",
	"orthogonalrandomfeatures": "it is called orf here",
	"structured":               "it is called sorf here",
	"hadamard":                 "sums of Hadamard projections are sorf for waves and tensorsrht for polynomials",
	"srht":                     "it is tensorsrht, of the poly kernel of degree 1",
	"quasi":                    "it is called qmc here",
	"quasimontecarlo":          "it is called qmc here",
	"sobol":                    "it is called qmc here",
	"halton":                   "there is none, but qmc with the points of Sobol",
	"nystroem":                 "it is called nystrom here",
	"nyström":                  "it is called nystrom here",
	"landmarks":                "it is called nystrom here",
	"lowrank":                  "it is called nystrom here, or icholesky",
	"incompletecholesky":       "it is called icholesky here",
	"ichol":                    "it is called icholesky here",
	"pivotedcholesky":          "it is called icholesky here",
	"kernelpca":                kernelPCA,
	"kpca":                     kernelPCA,
	"klsh":                     "it is called kg-rp here, without the signs",
	"polynomialcountsketch":    "it is called tensorsketch here",
	"ts":                       "it is called tensorsketch here",
	"ppt":                      "it is called tensorsketch here",
	"randommaclaurin":          "it is called maclaurin here",
	"rm":                       "it is called maclaurin here",
	"polynomialfeatures":       "it is called explicit-poly here",
	"monomials":                "it is called explicit-poly here",
	"additivechi2sampler":      "it is called homogeneous here, of the chi2 kernel",
	"homkermap":                "it is called homogeneous here",
	"vlhomkermap":              "it is called homogeneous here",
	"skewedchi2sampler":        "it is called skewed here, of the skewed-chi2 kernel",
	"gaussianprojection":       "it is rp with entries normal",
	"gaussianrandomprojection": "it is rp with entries normal",
	"sparserandomprojection":   "it is rp with entries sparse",
	"randomprojection":         "it is called rp here",
	"projection":               "it is called rp here",
	"johnsonlindenstrauss":     "it is called rp here",
	"jl":                       "it is called rp here",
	"hashing":                  "it is called countsketch here",
	"hashingtrick":             "it is called countsketch here",
	"featurehashing":           "it is called countsketch here",
	"featurehasher":            "it is called countsketch here",
	"vw":                       "it is called countsketch here",
	"thermometer":              "it is called unary here",
	"binning":                  "there are no random bins; take rff of the laplacian kernel, or unary for cells of numbers ≥ 0",
	"randombinning":            "there are no random bins; take rff of the laplacian kernel, or unary for cells of numbers ≥ 0",
	"kbinsdiscretizer":         "there are no bins; unary has cells of numbers ≥ 0",
	"wavelet":                  "it is called wavelets here",
	"haar":                     "it is wavelets with form haar",
	"daubechies":               "it is wavelets with form db2",
	"db2":                      "it is wavelets with form db2",
	"bagofwords":               "it is called words here",
	"bow":                      "it is called words here",
	"bovw":                     "it is called words here",
	"vectorquantization":       "it is called words here",
	"rbfn":                     "it is called rbf-network here",
	"radialbasisfunctions":     "it is called rbf-network here",
	"kmeans":                   "rbf-network has functions around the centres of clusters, and nystrom with landmarks kmeans projects on them",
	"elm":                      "sigmoid has smooth steps between clusters, and rff of the arccos kernel random ones",
	"extremelearningmachine":   "sigmoid has smooth steps between clusters, and rff of the arccos kernel random ones",
	"relu":                     "it is orf of the arccos kernel of degree 1",
	"empiricalkernelmap":       "it is called empirical here",
	"pipeline":                 "it is called chain here",
	"union":                    "it is called sum here",
	"featureunion":             "it is called sum here",
	"concat":                   "it is called sum here",
	"identity":                 "without a map is the linear kernel; leave the map out",
	"pca":                      "principal components are no map; ask for components of the features",
}

const kernelPCA = "nystrom has the kernel principal components of its landmarks (not centred), " +
	"and kpca-rp a projection of centred ones"

// unknown is the error for a name that is not a map's: it gives the name used here or the one that was probably meant,
// and the list of maps.
func unknown(name string) string {
	known, _ := Names()
	return fmt.Sprintf("%q is not a map; %sknown are %s", name, meant(name, known), strings.Join(known, ", "))
}

// meant is what was probably meant by a name.
func meant(name string, known []string) string {
	without := strings.NewReplacer("_", "", " ", "", "-", "")
	plain := without.Replace(strings.ToLower(name))
	for _, k := range known {
		if without.Replace(k) == plain {
			return "did you mean " + k + "? "
		}
	}
	if text := foreign[plain]; text != "" {
		return text + "; "
	}
	if kind, err := kernel.Find(strings.ToLower(name)); err == nil {
		return fmt.Sprintf("%s is a kernel, which has the maps %s; ", name, strings.Join(MapsOf(kind.Name()), ", "))
	}
	if near := spelling.Near(name, known); near != "" {
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
