// Package feature maps rows to features z(x) with z(x)·z(y) ≈ k(x, y), so that a linear model on z
// does the work of a kernel machine on x, at linear cost.
//
// [New] draws a map that does not depend on data; [Fit] fits any map, on a sample of rows. A
// [Config] defines the map: the name of the map, the kernel ([mercer/kernel]), the number D of features
// and the map's [Options]. [Choose] names the best map for a kernel, and sets its options. The same configuration gives the same
// map on every machine.
//
//	cfg := feature.Choose(feature.Config{Kernel: k, Features: 4096, Seed: 1}, dim)
//	m, err := feature.New(cfg, dim)
//	m.Transform(z, x)
//
// # Maps
//
// Each has a constant with its documentation: go doc mercer/feature.SORF. The second line of each gives
// the kernels that it approximates, its options, the operations that a row takes, and its source. d is
// the number of dimensions, nnz that of elements of a sparse row, p the degree of a polynomial, t
// option t, and m the number of landmarks, or of vectors in a pool.
//
//	rff            random Fourier features
//	               arccos, rbf, laplacian, cauchy, matern, exp-chi2 | form | O(dD) | Rahimi and Recht 2007
//	orf            random Fourier features with orthogonal frequencies
//	               arccos, rbf, matern, exp-chi2 | form, radius | O(dD) | Yu et al. 2016
//	sorf           orf by fast Hadamard transforms, for rows of more than 16 dimensions
//	               arccos, rbf, matern, exp-chi2 | form, radius, order | O(D log d) | Yu et al. 2016
//	qmc            random Fourier features at quasi-random frequencies, for few dimensions
//	               arccos, rbf, laplacian, cauchy, matern, exp-chi2 | form | O(dD) | Yang et al. 2014
//	fastfood       rff by fast Hadamard transforms; sorf is more accurate
//	               arccos, rbf, matern, exp-chi2 | form | O(D log d) | Le, Sarlós and Smola 2013
//	countsketch    sums of coordinates that hash alike, for the linear kernel
//	               linear | hash | O(nnz) | Charikar, Chen and Farach-Colton 2002
//	tensorsketch   convolved count sketches, for polynomials
//	               poly | hash | O(p(nnz + D log D)) | Pham and Pagh 2013
//	tensorsrht     products of Hadamard projections, for polynomials
//	               poly | complex | O(p(d log d + D)) | Hamid et al. 2014; Wacker et al. 2022
//	maclaurin      products of random projections, for any dot-product kernel
//	               poly, exp | complex, series | O(pdD) | Kar and Karnick 2012; Wacker et al. 2022
//	taylorsketch   tensor sketches of the terms of the exponential series, for exp, and for rbf by it
//	               exp, rbf, exp-chi2 | hash | O(p²·nnz + pD log D) | Pham and Pagh 2013
//	explicit-poly  all monomials, exact
//	               poly | no options | O(D)
//	rp             random projection of the rows themselves
//	               linear | entries, sparsity | O(dD) | Achlioptas 2001
//	explicit-rp    random projection from the polynomial kernel's feature space, monomial by monomial
//	               poly | entries, sparsity | O(d^p·D) | López-Sánchez 2019
//	reduced-poly   all products of two different coordinates, exactly
//	               poly | no options | O(D) | López-Sánchez et al. 2018
//	d2pk-rp        random projection from the feature space of the polynomial kernel of degree two
//	               poly | sparsity, t | O(tdD) | López-Sánchez et al. 2018
//	pk-rp          random projection from the feature space of a polynomial kernel, by products of a pool of projections
//	               poly | entries, sparsity, pool, t, reuse | O(dm + ptD) | López-Sánchez 2019
//	kg-rp          random projection of the centred kernel's feature space, on sums of rows of a sample: keeps distances, not z·z
//	               any kernel | pool, t | O(md + mD) | Kulis and Grauman 2009
//	korp           kg-rp with orthonormal directions: keeps distances, not z·z
//	               any kernel | pool, t | O(md + mD) | Alavi et al. 2014; Zhao et al. 2016
//	kpca-rp        random projection of the centred kernel's principal components on a sample: keeps distances, not z·z
//	               any kernel | pool, rank | O(md + mD) | Alavi et al. 2014; Zhao et al. 2016
//	homogeneous    additive kernels of histograms, by waves of log x
//	               hellinger, chi2, intersection, jensen-shannon, exp-chi2 | terms, window, period | O(D) | Vedaldi and Zisserman 2012
//	chebyshev      the chi2 kernel, by a series of polynomials in log x
//	               chi2, exp-chi2 | terms, stretch | O(D) | Li, Lebanon and Sminchisescu 2012
//	elementary     the chi2 kernel, by a geometric series
//	               chi2, exp-chi2 | terms, stretch | O(D) | Li, Lebanon and Sminchisescu 2012
//	skewed         the skewed kernels of histograms, by random waves of log(x+c)
//	               skewed-chi2, skewed-intersection | form | O(dD) | Li, Ionescu and Sminchisescu 2010
//	unary          the intersection kernel, by unary (thermometer) code, to the fraction of a cell or rounded (form); sparse
//	               intersection | terms, form, stretch | O(D) | Maji and Berg 2009
//	nystrom        projection on what landmarks span of any kernel's feature space (Nyström)
//	               any kernel | landmarks, rank | O(md + mD) | Williams and Seeger 2001
//	icholesky      nystrom on the rows of a sample that incomplete Cholesky picks one by one
//	               any kernel | no options | O(md + mD) | Fine and Scheinberg 2001
//	cksvd          nystrom with landmarks that are learned, no rows of the sample
//	               any kernel | landmarks, rank | O(md + mD) | Bo and Sminchisescu 2009
//	rbf-network    radial basis functions around the centres of clusters; approximates no kernel
//	               no kernel | landmarks, widths | O(dD) | Broomhead and Lowe 1988; Moody and Darken 1989
//	sigmoid        smooth steps between the centres of clusters; approximates no kernel
//	               no kernel | landmarks, width | O(dD) | Kumar 2010
//	words          the nearest of the centres of clusters; its mean over a bag is a histogram of words; approximates no kernel
//	               no kernel | landmarks | O(dD) | Csurka et al. 2004
//	wavelets       the wavelet basis of each dimension; approximates no kernel
//	               no kernel | terms, form | O(D) | Daubechies 1992; Kumar 2010
//	empirical      the kernel's values with landmarks themselves
//	               no kernel | landmarks | O(dD) | Schölkopf et al. 1999
//	precomputed    rows that are values of a kernel of one's own with training rows; z(x)·z(y) is that kernel
//	               no kernel | landmarks, rank | O(mD) | Schölkopf et al. 1998
//	chain          maps one after the other (steps)
//	               the kernels of its steps | no options | that of the steps
//	sum            maps side by side, for weighted sums of kernels (steps, weights)
//	               the kernels of its steps | no options | that of the steps
package feature
