package tune

import "fmt"

// Forecast is what is left of a search, before candidates are judged by all rows.
type Forecast struct {
	// Configurations that are judged, Trainings of them that are left, and about how many seconds
	// these take.
	Configurations int
	Trainings      int
	Seconds        float64
}

// Text is the forecast in a line, as of "9 configurations, 45 trainings: about 3 min".
func (f Forecast) Text() string {
	return fmt.Sprintf("%s configurations, %s trainings: about %s", thousands(f.Configurations), thousands(f.Trainings), roughly(f.Seconds))
}

// forecastRows are how many of the first rows a forecast looks at.
const forecastRows = 8000

// forecast tells what is left if that is long. That it cannot be told is no error: what cannot be
// trained says so when it is tried.
func (s *search) forecast() {
	if s.opt.Forecast == nil {
		return
	}
	f := Forecast{Configurations: len(s.running)}
	all := len(s.running) * len(s.division.Splits)
	f.Trainings = max(0, all-s.journal.resumed)
	if f.Trainings == 0 {
		return
	}
	sample, err := DrawFirst(s.ctx, s.src, forecastRows, s.result.Task, s.opt.Seed)
	if err != nil {
		return
	}
	sample.rowsAll, sample.guessed = s.result.Rows, false
	long := false
	costs := map[string]*Cost{} // of learners, by the largest candidate of each
	largest, dearest := map[string]*Candidate{}, map[string]*Candidate{}
	for _, c := range s.running {
		learner := c.Config.Learner
		if l := largest[learner]; l == nil || c.Config.Features > l.Config.Features {
			largest[learner], dearest[learner] = c, c
		} else if d := dearest[learner]; c.Config.Features == d.Config.Features && c.Config.C > d.Config.C {
			dearest[learner] = c
		}
	}
	for _, c := range largest {
		short, err := Short(s.ctx, sample, s.settled(c.Config), s.opt.Memory, s.opt.ForecastFrom/float64(f.Trainings))
		long = long || err == nil && !short
	}
	if !long {
		return
	}
	for learner, c := range largest {
		opt := CostOptions{Memory: s.opt.Memory, Seconds: 0.5}
		if costs[learner], err = PredictCost(s.ctx, sample, s.settled(c.Config), opt); err != nil {
			return
		}
		if d := dearest[learner]; d != c { // a larger C takes longer: the mean stands for those between
			other, err := PredictCost(s.ctx, sample, s.settled(d.Config), opt)
			if err != nil {
				return
			}
			a, b := costs[learner].model.solve, other.model.solve
			costs[learner].model.solve = func(n, d int) float64 { return (a(n, d) + b(n, d)) / 2 }
		}
	}
	f.Seconds = s.expected(costs) * float64(f.Trainings) / float64(all)
	if f.Seconds >= s.opt.ForecastFrom {
		s.opt.Forecast(f)
	}
}

// expected is how many seconds judging all candidates takes by the costs of their learners. Rows
// are mapped once for those that share them, and once for each split where the map is fitted anew;
// ridge regressions share statistics, too.
func (s *search) expected(costs map[string]*Cost) (seconds float64) {
	splits := float64(len(s.division.Splits))
	passes := 1.0
	if s.opt.Strict || s.opt.Alone {
		passes = splits
	}
	mapped, collected := map[string]bool{}, map[string]bool{}
	for _, c := range s.running {
		cost := costs[c.Config.Learner]
		d := c.Config.Features
		if d == 0 || cost.Plan.Fixed {
			d = cost.Plan.Features
		}
		trained, _ := s.division.count(s.division.Splits[len(s.division.Splits)-1])
		_, mapping, _ := cost.model.seconds(s.result.Rows, d)
		read := cost.Read
		solve := cost.model.solve(trained, d)
		if !shares(&c.Config, s.result.Task) {
			seconds += splits * (read + mapping + solve)
			continue
		}
		key, _, err := pipelineKey(c.Config)
		if err != nil || s.opt.Alone {
			key = fmt.Sprint(c.Index)
		}
		if !mapped[key] {
			mapped[key] = true
			seconds += passes * (read + mapping)
		}
		if c.Config.Learner != "ridge" {
			seconds += splits * solve
			continue
		}
		factorise := cost.model.solve(0, d)
		if !collected[key] {
			collected[key] = true
			seconds += max(passes, float64(s.opt.Folds.Repeats), 1) * (solve - factorise)
		}
		seconds += splits * factorise
	}
	return seconds
}
