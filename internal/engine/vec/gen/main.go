// Command gen writes the assembly of internal/engine/vec for AVX2 and AVX-512, one family of kernels
// a file. It is a module of its own so that users of Mercer do not depend on avo.
//
//	go generate ./internal/engine/vec
package main

import (
	"flag"
	"log"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

var families = map[string]func(){
	"answers":    answers,
	"columns":    wideColumns,
	"dot":        dot,
	"elementary": elementary,
	"fft":        fft,
	"gemm":       gemm,
	"hamming":    hamming,
	"hadamard":   hadamard,
	"pairs":      pairSums,
	"lanes":      lanes,
	"peak":       peak,
	"series":     series,
	"sides":      allSides,
	"scale":      scaling,
	"survey":     surveys,
	"symv":       symv,
	"rows":       listedRows,
}

// family is the one that is being written.
var family string

func main() {
	flag.StringVar(&family, "family", "", "which kernels to write")
	flag.Parse()
	write, known := families[family]
	if !known {
		log.Fatalf("%q is not a family of kernels", family)
	}
	ConstraintExpr("amd64,!purego")
	write()
	Generate()
}

// replaceT writes a type for T in a signature.
func replaceT(signature, t string) string {
	signature = strings.ReplaceAll(signature, "*T", "*"+t)
	return strings.ReplaceAll(signature, " T", " "+t)
}
