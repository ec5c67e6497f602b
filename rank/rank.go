// Package rank compares methods: over data sets by their ranks, over rows by pairs.
package rank
