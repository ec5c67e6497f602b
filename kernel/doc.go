// Package kernel evaluates kernels exactly, in float64: single values, Gram matrices and feature-space
// distances by blocks of rows, and the usual rules for γ. The feature maps approximate these kernels and
// are measured against them.
//
// A [Kernel] is a name with parameters, and its [Kind] describes it. [Gram] computes matrices of values,
// [Against] values between any rows and a fixed set of rows, [Lines] single rows of a matrix for solvers.
// [MedianGamma] and [ScaleGamma] find γ.
//
// # Kernels
//
// Each kernel has a variable with its documentation: go doc mercer/kernel.Matern. The first line below
// has its formula; the second says what it is for, with its parameters (fields of Kernel) and its source.
//
//	linear               x·y
//	                     the rows themselves; needs no map
//	poly                 (γ x·y + c)^p
//	                     products of up to p columns | gamma, degree, coef0 | Boser, Guyon and Vapnik 1992
//	exp                  exp(γ x·y)
//	                     products of any number of columns | gamma | Kar and Karnick 2012
//	arccos               (1/π)‖x‖ᵖ‖y‖ᵖ J_p(θ), J_0 = π-θ, J_1 = sin θ + (π-θ) cos θ
//	                     an infinitely wide layer of a neural network; needs no γ | degree | Cho and Saul 2009
//	rbf                  exp(-γ‖x-y‖²)
//	                     smooth functions of all columns together: the first to try | gamma | Boser, Guyon and Vapnik 1992
//	laplacian            exp(-γ‖x-y‖₁)
//	                     less smooth than rbf, column by column | gamma | Rahimi and Recht 2007
//	cauchy               Π 1/(1 + γ²(x_j-y_j)²)
//	                     heavy tails: far rows still count | gamma | Rahimi and Recht 2007
//	matern               2^(1-ν)/Γ(ν)·(√(2ν)r)^ν K_ν(√(2ν)r), r = ‖x-y‖/σ, γ = 1/(2σ²)
//	                     functions with about ν derivatives; ν = ½: exp(-r) | nu, gamma | Matérn 1960; Rasmussen and Williams 2006
//	hellinger            Σ √(x_j y_j), x, y ≥ 0
//	                     histograms: the inner product of the roots | homogeneity | Vedaldi and Zisserman 2012
//	chi2                 Σ 2x_j y_j/(x_j+y_j), x, y ≥ 0
//	                     histograms, the usual choice: sums of functions of one column | homogeneity | Vedaldi and Zisserman 2012
//	intersection         Σ min(x_j, y_j), x, y ≥ 0
//	                     histograms: what two have in common | homogeneity | Swain and Ballard 1991; Maji, Berg and Malik 2008
//	jensen-shannon       Σ x_j/2·log₂((x_j+y_j)/x_j) + y_j/2·log₂((x_j+y_j)/y_j), x, y ≥ 0
//	                     histograms: 1 less the Jensen-Shannon divergence | homogeneity | Vedaldi and Zisserman 2012
//	exp-chi2             exp(-γ Σ (x_j-y_j)²/(x_j+y_j)), x, y ≥ 0
//	                     histograms: rbf with the distance of chi2 | gamma | Chapelle, Haffner and Vapnik 1999
//	skewed-chi2          Π 2√((x_j+c)(y_j+c))/(x_j+y_j+2c), x_j > -c
//	                     histograms: products over the columns, of ratios | coef0 | Li, Ionescu and Sminchisescu 2010
//	skewed-intersection  Π min(√((x_j+c)/(y_j+c)), √((y_j+c)/(x_j+c))), x_j > -c
//	                     skewed-chi2 for functions that are less smooth | coef0 | Li, Ionescu and Sminchisescu 2010
package kernel
