package papers

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"mercer/matrix"
)

// The columns of KDD Cup 1999: 41 and a label, of which three are symbols.
const kddColumns = 41

var kddSymbols = []int{1, 2, 3} // protocol, service, flag

// kddCup reads the connections of KDD Cup 1999, the tenth of them that was published to train on and the
// labelled test part; normal ones against attacks. Symbols are one-hot encoded, by those that
// occur in the training part.
func kddCup(dir string) (*problem, error) {
	p := &problem{gamma: "median", features: 50, fixed: true}
	var places map[string]int // of the symbols
	for _, part := range []struct {
		names []string
		x     *matrix.Rows
		class *[]string
	}{
		{[]string{"kddcup.data_10_percent"}, &p.train, &p.names},
		{[]string{"corrected"}, &p.test, &p.namesTest},
	} {
		path, err := find(dir, "kddcup99", part.names...)
		if err != nil {
			return nil, err
		}
		if places == nil {
			if places, err = kddPlaces(path); err != nil {
				return nil, err
			}
		}
		x := matrix.NewDense(0, kddColumns-len(kddSymbols)+len(places))
		err = kddLines(path, func(number int, fields []string) error {
			row := make([]float32, x.Cols)
			at := len(places)
			for j, field := range fields[:kddColumns] {
				if slices.Contains(kddSymbols, j) {
					if place, known := places[kddSymbol(j, field)]; known {
						row[place] = 1
					}
					continue
				}
				v, err := strconv.ParseFloat(field, 32)
				if err != nil {
					return fmt.Errorf("%s:%d: %q is not a number", path, number, field)
				}
				row[at] = float32(v)
				at++
			}
			x.Data = append(x.Data, row...)
			x.Rows++
			name := "attack"
			if fields[kddColumns] == "normal." {
				name = "normal"
			}
			*part.class = append(*part.class, name)
			return nil
		})
		if err != nil {
			return nil, err
		}
		*part.x = matrix.Rows{Dense: x}
	}
	return p, nil
}

func kddSymbol(column int, value string) string { return strconv.Itoa(column) + " " + value }

// kddPlaces numbers the symbols of a file.
func kddPlaces(path string) (map[string]int, error) {
	places := map[string]int{}
	err := kddLines(path, func(_ int, fields []string) error {
		for _, j := range kddSymbols {
			places[kddSymbol(j, fields[j])] = 0
		}
		return nil
	})
	for i, symbol := range slices.Sorted(maps.Keys(places)) {
		places[symbol] = i
	}
	return places, err
}

// kddLines calls f with the fields of every line.
func kddLines(path string, f func(number int, fields []string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := unzipped(bufio.NewReader(file))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Split(lines.Text(), ",")
		if len(fields) != kddColumns+1 {
			return fmt.Errorf("%s:%d: %d columns; expected %d and a label", path, number, len(fields), kddColumns)
		}
		if err := f(number, fields); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
