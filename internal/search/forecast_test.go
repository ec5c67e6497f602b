package search

import (
	"testing"
)

func TestForecastText(t *testing.T) {
	text := (Forecast{9, 1045, 183, 1_234_567_890}).Text("configurations")
	if text != "9 configurations, 1,045 trainings: about 3 min and 1.1 GiB" {
		t.Error(text)
	}
}
