package export

import (
	"context"
	"testing"

	"mercer/dataset"
)

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
