package kernel

// Law is that of a kernel's frequencies ω, whose features have the kernel as their mean product:
//
//	k(x, y) = E 2·f(ω·x)·f(ω·y)
//
// or, where f is a cosine, E cos ω·(x-y): then the law is the Fourier transform of k(x-y)
// (Bochner's theorem). In each case
//
//	ω = Scale·stretch·g
//
// where the coordinates of g are independent of each other and of stretch.
type Law struct {
	// Coordinates is the law of the coordinates of g.
	Coordinates Distribution

	Scale float64

	// Nu is ν, if not 0, with stretch = √(2ν/χ²_2ν), one number for all coordinates of ω; if it is
	// 0, stretch is 1.
	Nu float64

	// Wave is f.
	Wave Wave

	// Log says that ω is multiplied with log(x+c), c being Coef0 of the kernel, in place of x.
	Log bool
}

// Distribution is the law of a random number.
type Distribution int

// The laws of coordinates.
const (
	_             Distribution = iota
	Normal                     // of mean 0 and variance 1
	CauchyLaw                  // of density 1/(π(1 + t²))
	LaplaceLaw                 // of density exp(-|t|)/2
	HyperbolicLaw              // of density sech(πt)
)

// Wave is a function of projections ω·x.
type Wave int

// The functions of projections.
const (
	_      Wave = iota
	Cosine      // cos, with a random phase or beside a sine
	Step        // 1 above 0, ½ at 0
	Ramp        // max(0, ·)
)

// Radial says whether ω has no preferred direction: it has a uniform one, and a length of its own.
func (l Law) Radial() bool { return l.Coordinates == Normal }

// ShiftInvariant says whether the kernel is a function of x-y.
func (l Law) ShiftInvariant() bool { return l.Wave == Cosine && !l.Log }

// Law returns the law of the kernel's frequencies; ok is false if it has none. Of a kernel without
// its parameters, scales and ν mean nothing.
func (k Kernel) Law() (l Law, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.law == nil {
		return Law{}, false
	}
	return kind.law(k), true
}
