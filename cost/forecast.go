package cost

import (
	"fmt"

	"mercer/internal/units"
)

// Forecast is what is left of a work of many trainings before it begins: of a search, before
// candidates are judged by all rows, or of a learning curve.
type Forecast struct {
	// Configurations that are judged, or points of a curve; and Trainings of them that are left.
	Configurations int `json:"configurations"`
	Trainings      int `json:"trainings"`

	// Seconds is about how long these take, Bytes about how many they hold at most, beside the
	// data that are read.
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// Text is the forecast in a line, as of "9 configurations, 45 trainings: about 3 min and 1.2 GB",
// what being what is trained.
func (f Forecast) Text(what string) string {
	return fmt.Sprintf("%s %s, %s trainings: about %s and %s", units.Count(f.Configurations), what, units.Count(f.Trainings),
		units.Roughly(f.Seconds), units.Bytes(f.Bytes))
}
