package shard

import (
	"slices"
	"strconv"
	"strings"

	"mercer/train"
)

// The rounds, in order. The first is only for tables. Of a learner that takes many passes, each is a round, and how many there are is seen when
// it is over.
const (
	roundLook       = "look"
	roundSurvey     = "survey"
	roundStatistics = "statistics"
	roundPass       = "pass-" // and its number, from 0

	// Of a learner with leaves. The first two are only for tables, whose columns may have mean targets.
	roundMeans   = "means"
	roundColumns = "columns"

	roundSample = "sample"
	roundRows   = "rows"
	roundLeaves = "leaves"
)

// course is the order of the rounds. Where the survey decides on the learner, it ends with that.
type course struct {
	table bool
	cfg   train.Config
}

// Open says that the plan has no learner, so that the survey decides.
func (p *Plan) Open() bool { return p.Config.Traits() == nil }

// mayHaveLeaves says that leaves may grow from parts of the rows.
func (p *Plan) mayHaveLeaves() bool { return p.Open() || p.Config.Apart() }

// Rounds are the rounds of a training by a plan, in order, of passes only the first, and if the plan is open up to the survey.
func (p *Plan) Rounds() []string { return course{p.Data.Table, p.Config}.rounds() }

func (c course) rounds() (rounds []string) {
	for round := c.first(); round != ""; round = c.after(round) {
		if rounds = append(rounds, round); strings.HasPrefix(round, roundPass) {
			break
		}
	}
	return rounds
}

func (c course) first() string {
	if c.table {
		return roundLook
	}
	return roundSurvey
}

// after is the round after another, as far as the course tells.
func (c course) after(round string) string {
	switch {
	case round == "":
		return c.first()
	case round == roundLook:
		return roundSurvey
	case round == roundStatistics || round == roundLeaves || c.cfg.Traits() == nil:
		return ""
	case round == roundSurvey && c.table && c.cfg.MayHaveMeans():
		return roundMeans
	case round == roundMeans:
		return roundColumns
	case round == roundSample:
		return roundRows
	case round == roundRows:
		return roundLeaves
	case strings.HasPrefix(round, roundPass):
		n, _ := strconv.Atoi(strings.TrimPrefix(round, roundPass))
		return roundPass + strconv.Itoa(n+1)
	case c.cfg.Passes():
		return roundPass + "0"
	case c.cfg.Apart():
		return roundSample
	}
	return roundStatistics
}

// knows says whether there may be a round of a name.
func (c course) knows(round string) bool {
	if slices.Contains(c.rounds(), round) {
		return true
	}
	if c.cfg.Traits() == nil {
		return slices.Contains([]string{roundStatistics, roundMeans, roundColumns, roundSample, roundRows, roundLeaves}, round)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(round, roundPass))
	return err == nil && c.cfg.Passes() && round == roundPass+strconv.Itoa(n) && n >= 0
}
