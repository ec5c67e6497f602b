package model

// Tested is how good a model was on rows that played no part in its training.
type Tested struct {
	// On says which rows: a share of the data, or other data.
	On   string `json:"on"`
	Rows int    `json:"rows"`

	// Flags are those of mercer train that chose the rows, where these are some of the data.
	Flags string `json:"flags,omitempty"`

	// Metrics are the most important first.
	Metrics []TestedMetric `json:"metrics"`
}

// TestedMetric is a metric by its name in package eval. Low and High are the ends of its interval of 95 %, nil if
// it has none.
type TestedMetric struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// WithTested is the model with a test that its file keeps. It shares all else with m.
func (m *Model) WithTested(t *Tested) *Model {
	other := *m
	other.info.Tested = t
	return &other
}
