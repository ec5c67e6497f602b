package rfm

// The parts of a training, one after the other.
const (
	choosing = iota // kinds, metrics and their shapes, from a sample of the rows
	growing         // the tree and its leaves
	joining         // machines for all rows
	stepping        // boosted trees
	parts
)

// The parts of choosing, and their shares of its time.
const (
	racing, exchanging, refining, shaping = 0.4, 0.1, 0.15, 0.35
)

// work is about how long each part takes, in rows of a leaf.
func (f *fitting) work() (all [parts]float64) {
	rows, some := float64(f.rows), float64(min(f.rows, wholeRows))
	all[choosing] = 1.7 * min(rows, sampleRows)
	all[growing] = rows
	if f.fewLeaf < f.opt.Centres {
		all[growing] += rows / 2 // more landmarks may be asked for
	}
	if f.rows > f.opt.Leaf {
		all[joining] = some
	}
	if !f.opt.Smooth {
		all[stepping] = some
	}
	return all
}

// tellProgress tells the share of the work that is done once a share of one of its parts is.
func (f *fitting) tellProgress(part int, share float64) {
	if f.opt.Progress == nil {
		return
	}
	done, total := 0.0, 0.0
	for p, units := range f.work() {
		total += units
		switch {
		case p < part:
			done += units
		case p == part:
			done += units * min(1, share)
		}
	}
	f.opt.Progress(done / total)
}

// progress says that machines of leaves were trained on so many rows more.
func (f *fitting) progress(rows int) {
	f.counting.Lock()
	defer f.counting.Unlock()
	f.done += rows
	share := float64(f.done) / float64(f.rows)
	if f.fewLeaf < f.opt.Centres {
		share /= 1.5
	}
	f.tellProgress(growing, share)
}
