// Package approx measures how well explicit maps approximate a kernel on given rows.
package approx
