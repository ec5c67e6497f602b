package report

import (
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip("no LOOK")
	}
	p := gallery()
	if err := p.Save(dir + "/gallery.html"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.SavePlots(dir + "/plots"); err != nil {
		t.Fatal(err)
	}
}
