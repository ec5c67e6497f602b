#!/bin/sh
# Writes the assembly of every family of kernels, and the Go declarations.
set -e
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/gen" .
for family in answers columns dot elementary fft gemm hadamard hamming lanes pairs peak rows scale series sides survey symv; do
	"$dir/gen" -family "$family" -out "../${family}_amd64.s" -stubs "../${family}_stubs_amd64.go" -pkg vec
done
