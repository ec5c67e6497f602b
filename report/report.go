// Package report draws pictures and puts them into pages that need no network.
package report
