// Package spelling finds the word that was meant by one that is not known.
package spelling

import "strings"

// Near returns the known word that a misspelt one was most likely meant for, "" if none is near:
// the one that is one edit away, or the only one that begins with it, or the one that is the fewest edits away, if they are no
// more than one and a quarter of the letters. An edit inserts, deletes or replaces a letter, or swaps two
// neighbours. Of words that are equally near it is the first. Of fewer than three letters nothing can
// be told.
func Near(word string, known []string) string {
	a := []rune(strings.ToLower(word))
	if len(a) < 3 {
		return ""
	}
	best, least := "", len(a)/4+2
	for _, k := range known {
		b := []rune(strings.ToLower(k))
		if d := edits(a, b); d < least && d < min(len(a), len(b)) {
			best, least = k, d
		}
	}
	if least > 1 {
		if long := beginning(word, known); long != "" {
			return long
		}
	}
	return best
}

// beginning is the only word that begins with one, "" if there are several or none.
func beginning(word string, known []string) (only string) {
	for _, k := range known {
		if !strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) {
			continue
		}
		if only != "" {
			return ""
		}
		only = k
	}
	return only
}

// edits is how many insertions, deletions, replacements and swaps of neighbours turn a into b, none
// of which touches what another has made (the optimal string alignment distance).
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
