package feature

import "mercer/kernel"

// Pairs reports whether features of a configuration are cosines and then as many sines of the same angles, as [Complex] takes them: the form
// pair of maps with frequencies, or of the last step of a chain.
func Pairs(cfg Config) bool {
	if cfg.Map == Chain && len(cfg.Steps) > 0 {
		return Pairs(cfg.Steps[len(cfg.Steps)-1])
	}
	k, err := find(cfg.Map)
	if err != nil || k.words["form"] == nil || k.words["form"][0] != "pair" || cfg.Form != "" && cfg.Form != "pair" {
		return false
	}
	of := cfg.Kernel
	if _, outer, ok := of.Parts(); ok {
		of = outer
	}
	law, ok := of.Law()
	return ok && law.Wave == kernel.Cosine
}

// Complex writes D features of the form pair as D/2 complex ones,
//
//	z'_j(x) = √(2/D)·exp(i·ω_j·x),
//
// the form in which Bochner's theorem has them (Sivertsen, "Scalable learning through linearithmic time kernel approximation techniques", 2014,
// equation 2.9). The real part of Σ_j z'_j(x)·conj(z'_j(y)) is the dot product of the pairs and estimates k(x, y); the imaginary part has the mean 0.
func Complex(dst []complex64, z []float32) {
	re, im := z[:len(dst)], z[len(dst):2*len(dst)]
	for j, v := range re {
		dst[j] = complex(v, im[j])
	}
}
