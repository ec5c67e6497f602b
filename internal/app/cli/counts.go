package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// countsValue is a flag that takes numbers of rows or features, separated by commas; 256:4096 are those from
// 256 to 4096 in doubling steps.
type countsValue struct{ to *[]int }

var _ pflag.Value = countsValue{}

func (v countsValue) String() string {
	if v.to == nil || len(*v.to) == 0 {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*v.to), " ", ","), "[]")
}

func (v countsValue) Type() string { return "numbers" }

func (v countsValue) Set(text string) error {
	list := []int{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		from, to, isRange := strings.Cut(part, ":")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(strings.TrimSpace(from))
		b, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err != nil || err2 != nil || isRange && (a < 1 || b < a) {
			return errors.New("give whole numbers separated by commas, or a range such as 256:4096, which doubles from one to the other")
		}
		for n := a; n <= b; n *= 2 {
			if list = append(list, n); n < 1 {
				break // refused by the command, which knows what it is of
			}
		}
		if isRange && list[len(list)-1] != b {
			return fmt.Errorf("%d is not %d doubled some times; give a range that ends at %d or %d", b, a, list[len(list)-1], 2*list[len(list)-1])
		}
	}
	*v.to = list
	return nil
}
