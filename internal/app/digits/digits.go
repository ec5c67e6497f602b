// Package digits holds a small real data set inside the binary, for the demonstration and
// the tests: 1,797 handwritten digits as 8×8 pixels of 0 to 16, the label in the last
// column. ATTRIBUTION.md names its origin and licence.
package digits

import _ "embed"

// CSVGz is the data set as gzip-compressed CSV without a header.
//
//go:embed digits.csv.gz
var CSVGz []byte
