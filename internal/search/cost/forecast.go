package cost

import (
	"fmt"

	"mercer/internal/engine/units"
)

// Forecast is the remaining cost of many trainings before they begin: of a search before
// candidates are judged on all rows, or of a learning curve.
type Forecast struct {
	// Configurations are those to judge, or the points of a curve; Trainings is the number of their trainings left.
	Configurations int `json:"configurations"`
	Trainings      int `json:"trainings"`

	// Seconds is about how long these take, Bytes about how much memory they hold at most, besides the
	// data that are read.
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
}

// Text is the forecast in one line, such as "9 configurations, 45 trainings: about 3 min and 1.2 GB",
// where what names the things that are trained.
func (f Forecast) Text(what string) string {
	return fmt.Sprintf("%s %s, %s trainings: about %s and %s", units.Count(f.Configurations), what, units.Count(f.Trainings),
		units.Roughly(f.Seconds), units.Bytes(f.Bytes))
}
