// Package tune chooses configurations: cross-validation, races, learning curves, and what a training will cost.
package tune
