// Package spelling finds the word that was meant by one that is not known.
package spelling

import "strings"

// Near returns the word of known that word is most likely a slip for: the only one that begins
// with it, if it has three letters or more, or the one that takes the fewest insertions, deletions,
// replacements and swaps of neighbours, as long as these are one for every four letters and one
// more at most. It is "" if there is none. Of words that are equally near it is the first.
func Near(word string, known []string) string {
	if long := beginning(word, known); long != "" {
		return long
	}
	a := []rune(strings.ToLower(word))
	best, least := "", len(a)/4+2
	if len(a) < 3 {
		return ""
	}
	for _, k := range known {
		b := []rune(strings.ToLower(k))
		if d := edits(a, b); d < least && d < min(len(a), len(b)) {
			best, least = k, d
		}
	}
	return best
}

// beginning is the only word that begins with one, "" if there are several or none.
func beginning(word string, known []string) (only string) {
	if len(word) < 3 {
		return ""
	}
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
