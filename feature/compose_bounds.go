package feature

import (
	"fmt"

	"mercer/internal/engine/units"
)

// budget is the memory of a composition while its maps are made.
type budget struct {
	cfg   *Config
	maps  int      // made so far
	held  int64    // bytes of those
	rows  [2]int64 // bytes of the rows between the maps of a chain
	wider int64    // bytes of the rows that the last map makes, if another one follows
}

// add counts a map.
func (b *budget) add(m Map) {
	b.held += m.Bytes()
	b.wider = 0
	if _, sparse := m.(Sparse); b.cfg.Map == Chain && !sparse {
		_, out := m.Dims()
		b.wider = 4 * chainRows * int64(out)
	}
	b.maps++
}

// left is how many bytes the next map may hold: what those before it do not, nor the rows on
// their way through a chain. It is an error if nothing is.
func (b *budget) left() (int64, error) {
	if b.maps > 0 {
		k := (b.maps - 1) % 2
		b.rows[k] = max(b.rows[k], b.wider)
	}
	most := b.cfg.most()
	takes := b.held + b.rows[0] + b.rows[1]
	if takes >= most {
		takes, allowed := units.BytesApart(takes, most)
		return 0, memoryErrorf("feature: %s: what comes before step %d takes %s, of %s at most; use fewer features",
			b.cfg.Map, b.maps+1, takes, allowed)
	}
	return most - takes, nil
}

// Limits of compositions. A configuration or model file beyond them is a mistake.
const (
	maxDepth = 32   // compositions in each other
	maxMaps  = 4096 // in all
)

// bounded returns an error if a configuration is of too many maps, or too deep.
func (cfg *Config) bounded() error {
	maps, deep, astray := 0, 0, false
	var count func(c *Config, depth int)
	count = func(c *Config, depth int) {
		maps, deep = maps+1, max(deep, depth)
		astray = astray || c.part() && (depth > 1 || cfg.Map != Sum)
		for i := range c.Steps {
			if maps > maxMaps || deep > maxDepth {
				return
			}
			count(&c.Steps[i], depth+1)
		}
	}
	count(cfg, 0)
	switch {
	case astray:
		return fmt.Errorf("feature: %s: groups of columns are for the steps of a sum that is the whole map", cfg.Map)
	case deep > maxDepth:
		return fmt.Errorf("feature: %s: steps within steps, more than %d deep", cfg.Map, maxDepth)
	case maps > maxMaps:
		return fmt.Errorf("feature: %s: more than %s maps", cfg.Map, units.Count(maxMaps))
	}
	return nil
}
