package export

import (
	"context"
	"fmt"
	"testing"

	"mercer/dataset"
)

// So do those among numbers and dates.
func TestAbsentWords(t *testing.T) {
	text := "a,y\n"
	for i, word := range append(absentWords, "1", "2", "3") {
		text += fmt.Sprintf("%s,%d\n", word, i%2)
	}
	f, err := dataset.OpenBytes(context.Background(), "t.csv", []byte(text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c := f.Profile().Columns[0]; c.Missing != len(absentWords) || c.Kind != dataset.KindNumber {
		t.Errorf("%d of %d are missing, %+v", c.Missing, len(absentWords), c.Top)
	}
}

// The words that exported models take for missing values are those of the data.
func TestMissingWords(t *testing.T) {
	text := "a,b,y\n"
	for _, word := range append(missingWords, "red", "blue", "red") {
		text += word + ",1,0\n"
	}
	f, err := dataset.OpenBytes(context.Background(), "t.csv", []byte(text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c := f.Profile().Columns[0]; c.Missing != len(missingWords) || c.Distinct != 2 {
		t.Errorf("%d of %d are missing, %+v", c.Missing, len(missingWords), c.Top)
	}
}
