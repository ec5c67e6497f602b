package tune

import (
	"fmt"

	"mercer/model"
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
	return fmt.Sprintf("%s %s, %s trainings: about %s and %s", thousands(f.Configurations), what, thousands(f.Trainings), roughly(f.Seconds), roughBytes(f.Bytes))
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
	if f.Seconds < s.opt.ForecastFrom {
		return
	}
	if f.Bytes, err = s.bytes(sample); err == nil {
		s.result.Forecast = &f
		s.opt.Forecast(f)
	}
}

// bytes is about how many bytes the search holds where it holds most, the training of the
// candidate that is picked included. Of the candidates with the same learner, kernel and map the
// one with the most features tells; one that does not fit into the memory is not trained.
func (s *search) bytes(sample *Sample) (most int64, err error) {
	largest := map[string]*Candidate{}
	ridges := map[string]int{} // with the same features
	for _, c := range s.running {
		cfg := &c.Config
		kind := fmt.Sprint(cfg.Learner, cfg.Kernel, cfg.Map, cfg.Steps, cfg.Components > 0)
		if l := largest[kind]; l == nil || cfg.Features > l.Config.Features {
			largest[kind] = c
		}
		if key, _, err := pipelineKey(*cfg); err == nil && cfg.Learner == "ridge" {
			ridges[key]++
		}
	}
	for _, c := range largest {
		opt := model.Options{Memory: s.opt.Memory}
		shared := shares(&c.Config, s.result.Task)
		if shared {
			opt.Memory = 0 // where the features are is for the search to say
		}
		plan, err := model.NewPlan(s.ctx, sample.Train(0, sample.TrainRows()), s.result.Rows, s.settled(c.Config), opt)
		if err != nil {
			return 0, err
		}
		bytes := plan.Bytes
		if key, _, err := pipelineKey(c.Config); err == nil && shared {
			bytes = s.sharedBytes(plan, c.Config.Learner, ridges[key])
		}
		if s.opt.Memory <= 0 || bytes <= s.opt.Memory {
			most = max(most, bytes)
		}
	}
	return most, nil
}

// sharedBytes is about how many bytes a featureRun holds: the features of candidates that share them, in
// memory where there is room, and their learner, which may be that of so many ridge regressions. The plan
// is that of a training without a bound.
func (s *search) sharedBytes(p *model.Plan, learner string, ridges int) int64 {
	rest := float64(p.Bytes - p.FeatureBytes) // beside the rows that are kept
	if learner == "ridge" {
		rest = float64(p.MapBytes) + s.ridgeBytes(p.Features, p.Outputs, ridges*len(s.division.Splits))
	}
	kept := float64(p.FeatureBytes) + s.rowBytes(p.Outputs)
	if s.opt.Memory > 0 && rest+kept > float64(s.opt.Memory) {
		kept = 0 // in a file, or mapped anew
	}
	return int64(rest + kept)
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
