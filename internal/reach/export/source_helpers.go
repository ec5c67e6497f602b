package export

import (
	"regexp"
	"strings"
)

// helper is a function that generated code may call, with the helpers that it calls among those before it.
type helper struct{ name, text string }

// helped are the helpers that a text calls.
func (l *tongue) helped(text string) string {
	var parts []string
	for i := len(l.helpers) - 1; i >= 0; i-- {
		h := l.helpers[i]
		if regexp.MustCompile(`\b` + h.name + `\(`).MatchString(text) {
			parts = append(parts, h.text)
			text += h.text
		}
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(strings.TrimPrefix(parts[i], "\n") + "\n")
	}
	return b.String()
}

var goHelpers = []helper{
	{"sextet", `
// sextet is the value of a letter of base 64.
func sextet(c byte) uint32 {
	switch {
	case c >= 'a':
		return uint32(c-'a') + 26
	case c >= 'A':
		return uint32(c - 'A')
	case c >= '0':
		return uint32(c-'0') + 52
	case c == '+':
		return 62
	}
	return 63
}
`},
	{"unpack", `
// unpack calls take with each byte of a text in base 64.
func unpack(text string, take func(i int, b byte)) {
	bits, n, i := uint32(0), 0, 0
	for _, c := range []byte(text) {
		if c == '\n' || c == '=' {
			if c == '=' {
				n = 0
			}
			continue
		}
		bits = bits<<6 | sextet(c)
		if n += 6; n >= 8 {
			n -= 8
			take(i, byte(bits>>n))
			i++
		}
	}
}
`},
	{"floatFrom", `
func floatFrom(to []float32, text string) {
	var bits uint32
	unpack(text, func(i int, b byte) {
		if bits = bits>>8 | uint32(b)<<24; i%4 == 3 {
			to[i/4] = math.Float32frombits(bits)
		}
	})
}
`},
	{"doubleFrom", `
func doubleFrom(to []float64, text string) {
	var bits uint64
	unpack(text, func(i int, b byte) {
		if bits = bits>>8 | uint64(b)<<56; i%8 == 7 {
			to[i/8] = math.Float64frombits(bits)
		}
	})
}
`},
	{"wholeFrom", `
func wholeFrom(to []int32, text string) {
	var bits uint32
	unpack(text, func(i int, b byte) {
		if bits = bits>>8 | uint32(b)<<24; i%4 == 3 {
			to[i/4] = int32(bits)
		}
	})
}
`},
	{"shortFrom", `
func shortFrom(to []uint16, text string) {
	unpack(text, func(i int, b byte) { to[i/2] |= uint16(b) << (i % 2 * 8) })
}
`},
	{"smallFrom", `
func smallFrom(to []int8, text string) {
	unpack(text, func(i int, b byte) { to[i] = int8(b) })
}
`},
	{"cosOf", "func cosOf(x float64) float64 { return math.Cos(x) }\n"},
	{"sinOf", "func sinOf(x float64) float64 { return math.Sin(x) }\n"},
	{"expOf", "func expOf(x float64) float64 { return math.Exp(x) }\n"},
	{"logOf", "func logOf(x float64) float64 { return math.Log(x) }\n"},
	{"rootOf", "func rootOf(x float64) float64 { return math.Sqrt(x) }\n"},
	{"sizeOf", "func sizeOf(x float64) float64 { return math.Abs(x) }\n"},
	{"floorOf", "func floorOf(x float64) float64 { return math.Floor(x) }\n"},
	{"acosOf", "func acosOf(x float64) float64 { return math.Acos(x) }\n"},
	{"minOf", "func minOf(a, b float64) float64 { return min(a, b) }\n"},
	{"maxOf", "func maxOf(a, b float64) float64 { return max(a, b) }\n"},
	{"noneOf", "func noneOf() float64 { return math.NaN() }\n"},
	{"powOf", "func powOf(x, p float64) float64 { return math.Pow(x, p) }\n"},
	{"sigmoidOf", "func sigmoidOf(x float64) float64 { return 1 / (1 + math.Exp(-x)) }\n"},
	{"rampOf", "func rampOf(x float64) float64 { return max(x, 0) }\n"},
	{"stepOf", `
func stepOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return 0
	}
	return 0.5
}
`},
	{"signOf", `
// signOf is v with the sign of bit i.
func signOf(bits []int8, i int, v float64) float64 {
	if bits[i/8]>>(i%8)&1 != 0 {
		return -v
	}
	return v
}
`},
	{"hadamard", `
// hadamard multiplies each n of all numbers by a Hadamard matrix.
func hadamard(v []float32, n, all int) {
	for h := 1; h < n; h *= 2 {
		for i := 0; i < all; i += 2 * h {
			for j := i; j < i+h; j++ {
				v[j], v[j+h] = v[j]+v[j+h], v[j]-v[j+h]
			}
		}
	}
}
`},
	{"lineOf", `
// lineOf is linear between knots from lo to below hi, and constant beyond them.
func lineOf(knots, rise []float64, lo, hi int, x float64) float64 {
	if x <= knots[lo] {
		return rise[lo]
	}
	if x >= knots[hi-1] {
		return rise[hi-1]
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; knots[mid] <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return rise[lo] + (x-knots[lo])/(knots[hi]-knots[lo])*(rise[hi]-rise[lo])
}
`},
	{"placeOf", `
// placeOf is where v is in ascending numbers, -1 for nowhere.
func placeOf(numbers []float32, n int, v float64) int {
	lo, hi := 0, n
	for lo < hi {
		if mid := (lo + hi) / 2; float64(numbers[mid]) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < n && float64(numbers[lo]) == v {
		return lo
	}
	return -1
}
`},
}

var jsHelpers = []helper{
	{"unpacked", `
// unpacked are numbers, little endian, from a text in base 64.
function unpacked(Kind, text) {
  const bytes = Uint8Array.from(text.trim().split("\n").map(atob).join(""), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer), size = Kind.BYTES_PER_ELEMENT, to = new Kind(bytes.length / size);
  const read = {Float32Array: "getFloat32", Float64Array: "getFloat64", Int32Array: "getInt32", Uint16Array: "getUint16", Int8Array: "getInt8"}[Kind.name];
  for (let i = 0; i < to.length; i++) to[i] = view[read](i * size, true);
  return to;
}
`},
	{"cosOf", "const cosOf = Math.cos;\n"},
	{"sinOf", "const sinOf = Math.sin;\n"},
	{"expOf", "const expOf = Math.exp;\n"},
	{"logOf", "const logOf = Math.log;\n"},
	{"rootOf", "const rootOf = Math.sqrt;\n"},
	{"sizeOf", "const sizeOf = Math.abs;\n"},
	{"floorOf", "const floorOf = Math.floor;\n"},
	{"acosOf", "const acosOf = Math.acos;\n"},
	{"minOf", "const minOf = Math.min;\n"},
	{"maxOf", "const maxOf = Math.max;\n"},
	{"noneOf", "const noneOf = () => NaN;\n"},
	{"powOf", "const powOf = Math.pow;\n"},
	{"sigmoidOf", "const sigmoidOf = (x) => 1 / (1 + Math.exp(-x));\n"},
	{"rampOf", "const rampOf = (x) => (x > 0 ? x : 0);\n"},
	{"stepOf", "const stepOf = (x) => (x > 0 ? 1 : x < 0 ? 0 : 0.5);\n"},
	{"signOf", "const signOf = (bits, i, v) => ((bits[i >> 3] >> (i & 7)) & 1 ? -v : v);\n"},
	{"hadamard", `
// hadamard multiplies each n of all numbers by a Hadamard matrix.
function hadamard(v, n, all) {
  for (let h = 1; h < n; h *= 2)
    for (let i = 0; i < all; i += 2 * h)
      for (let j = i; j < i + h; j++) {
        const a = v[j], b = v[j + h];
        v[j] = a + b;
        v[j + h] = a - b;
      }
}
`},
	{"lineOf", `
// lineOf is linear between knots from lo to below hi, and constant beyond them.
function lineOf(knots, rise, lo, hi, x) {
  if (x <= knots[lo]) return rise[lo];
  if (x >= knots[hi - 1]) return rise[hi - 1];
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (knots[mid] <= x) lo = mid;
    else hi = mid;
  }
  return rise[lo] + ((x - knots[lo]) / (knots[hi] - knots[lo])) * (rise[hi] - rise[lo]);
}
`},
	{"placeOf", `
// placeOf is where v is in ascending numbers, -1 for nowhere.
function placeOf(numbers, n, v) {
  let lo = 0, hi = n;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (numbers[mid] < v) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && numbers[lo] === v ? lo : -1;
}
`},
}

var cHelpers = []helper{
	{"noneOf", "static double noneOf(void) { volatile float zero = 0.0f; return zero / zero; }\n"},
	{"sizeOf", "static double sizeOf(double x) { return x < 0.0 ? -x : x; }\n"},
	{"minOf", "static double minOf(double a, double b) { return b < a ? b : a; }\n"},
	{"maxOf", "static double maxOf(double a, double b) { return b > a ? b : a; }\n"},
	{"floorOf", `
static double floorOf(double x) {
    if (!(x < 4e15 && x > -4e15)) return x;
    long long n = (long long)x;
    return (double)(n - ((double)n > x));
}
`},
	{"rootOf", `
/* The root by Newton's method from that of a float. */
static double rootOf(double x) {
    double y = sqrtf((float)x);
    if (!(y > 0.0) || y > 1e30) return y;
    y = 0.5 * (y + x / y);
    return 0.5 * (y + x / y);
}
`},
	{"expOf", `
static double expOf(double x) {
    union { unsigned long long u; double d; } power;
    if (!(x > -708.0)) return x != x ? x : 0.0;
    if (x > 709.0) x = 709.0;
    int k = (int)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
    double r = x - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10, sum = 1.0;
    for (int i = 13; i > 0; i--) sum = 1.0 + sum * r / i;
    power.u = (unsigned long long)(k + 1023) << 52;
    return sum * power.d;
}
`},
	{"logOf", `
static double logOf(double x) {
    union { unsigned long long u; double d; } of;
    if (!(x > 0.0)) return x == 0.0 ? -1e300 : (x - x) / (x - x);
    of.d = x;
    int k = (int)(of.u >> 52) - 1023;
    of.u = (of.u & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    if (of.d > 1.4142135623730951) { of.d *= 0.5; k++; }
    double s = (of.d - 1.0) / (of.d + 1.0), sum = 0.0;
    for (int i = 21; i > 0; i -= 2) sum = sum * s * s + 1.0 / i;
    return k * 0.6931471805599453 + 2.0 * s * sum;
}
`},
	{"powOf", "static double powOf(double x, double p) { return x > 0.0 ? expOf(p * logOf(x)) : x == 0.0 ? 0.0 : (x - x) / (x - x); }\n"},
	{"acosOf", `
static double acosOf(double x) {
    double y = rootOf((1.0 - sizeOf(x)) / (1.0 + sizeOf(x))), sum = 0.0;
    y = y / (1.0 + rootOf(1.0 + y * y));
    y = y / (1.0 + rootOf(1.0 + y * y));
    for (int i = 23; i > 0; i -= 2) sum = 1.0 / i - sum * y * y;
    return x < 0.0 ? 3.14159265358979324 - 8.0 * y * sum : 8.0 * y * sum;
}
`},
	{"sigmoidOf", "static double sigmoidOf(double x) { return 1.0 / (1.0 + expOf(-x)); }\n"},
	{"waveOf", `
/* The cosine of x, or for quarter 3 the sine: x less a multiple of pi/2 in three parts, or in double where that is inexact. */
static float waveOf(float x, int quarter) {
    if (!(x < 1e9f && x > -1e9f)) return x - x;
    int k = (int)(x * 0.63661977f + (x < 0.0f ? -0.5f : 0.5f));
    float r;
    if (k < 8192 && k > -8192)
        r = ((x - (float)k * 1.5703125f) - (float)k * 4.837512969970703125e-4f) - (float)k * 7.54978995489188216e-8f;
    else
        r = (float)((double)x - (double)k * 1.57079632679489662);
    float s = r * r;
    float sine = r + r * s * (-0.16666655f + s * (0.0083321609f - s * 0.00019515296f));
    float cosine = 1.0f - 0.5f * s + s * s * (0.041666646f + s * (-0.0013887316f + s * 0.000024433157f));
    quarter = (quarter + k) & 3;
    float wave = quarter & 1 ? sine : cosine;
    return quarter == 1 || quarter == 2 ? -wave : wave;
}
`},
	{"cosOf", "static float cosOf(float x) { return waveOf(x, 0); }\n"},
	{"sinOf", "static float sinOf(float x) { return waveOf(x, 3); }\n"},
	{"rampOf", "static float rampOf(float x) { return x > 0.0f ? x : 0.0f; }\n"},
	{"stepOf", "static float stepOf(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? 0.0f : 0.5f; }\n"},
	{"signOf", "static float signOf(const signed char *bits, int i, float v) { return bits[i / 8] >> (i % 8) & 1 ? -v : v; }\n"},
	{"hadamard", `
/* Multiplies each n of all numbers by a Hadamard matrix. */
static void hadamard(float *v, int n, int all) {
    for (int h = 1; h < n; h *= 2)
        for (int i = 0; i < all; i += 2 * h)
            for (int j = i; j < i + h; j++) {
                float a = v[j], b = v[j + h];
                v[j] = a + b;
                v[j + h] = a - b;
            }
}
`},
	{"lineOf", `
/* Linear between knots from lo to below hi, and constant beyond them. */
static double lineOf(const double *knots, const double *rise, int lo, int hi, double x) {
    if (x <= knots[lo]) return rise[lo];
    if (x >= knots[hi - 1]) return rise[hi - 1];
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (knots[mid] <= x) lo = mid;
        else hi = mid;
    }
    return rise[lo] + (x - knots[lo]) / (knots[hi] - knots[lo]) * (rise[hi] - rise[lo]);
}
`},
	{"placeOf", `
/* Where v is in ascending numbers, -1 for nowhere. */
static int placeOf(const float *numbers, int n, double v) {
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (numbers[mid] < v) lo = mid + 1;
        else hi = mid;
    }
    return lo < n && numbers[lo] == v ? lo : -1;
}
`},
}
