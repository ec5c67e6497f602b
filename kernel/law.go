package kernel

// Law is the distribution of a kernel's frequencies ω. Their features have the kernel as mean product,
//
//	k(x, y) = E 2·f(ω·x)·f(ω·y),
//
// or E cos ω·(x-y) if f is a cosine: then the law is the Fourier transform of k(x-y) (Bochner's theorem).
// In either case
//
//	ω = Scale·stretch·g,
//
// where the coordinates of g are independent of each other and of stretch.
type Law struct {
	// Coordinates is the distribution of the coordinates of g.
	Coordinates Distribution

	Scale float64

	// Nu is ν of stretch = √(2ν/χ²_2ν), one number for all coordinates of ω. If it is 0, stretch is 1.
	Nu float64

	// Wave is f.
	Wave Wave

	// Log says that features are functions of log(x+c) in place of x; c is Coef0 of the kernel.
	Log bool
}

// Distribution is a distribution of random numbers.
type Distribution int

// The distributions of coordinates.
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

// Radial says whether the direction of ω is uniform, and independent of its length.
func (l Law) Radial() bool { return l.Coordinates == Normal }

// ShiftInvariant says whether the kernel is a function of x-y.
func (l Law) ShiftInvariant() bool { return l.Wave == Cosine && !l.Log }

// Law returns the law of the kernel's frequencies; ok is false if it has none. Scale and Nu have no meaning
// if the kernel's parameters are not set.
func (k Kernel) Law() (l Law, ok bool) {
	kind := k.Kind()
	if kind == nil || kind.law == nil {
		return Law{}, false
	}
	return kind.law(k), true
}
