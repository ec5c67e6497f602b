package pipeline

import (
	"errors"
	"fmt"
	"os"

	"mercer/feature"
	"mercer/internal/engine/units"
)

// maxMemory is the environment variable that says how many bytes the map of a file may hold.
const maxMemory = "MERCER_MAX_MEMORY"

// MaxMemory is how many bytes the map of a file may hold that is read: what is asked for, or what the environment variable
// MERCER_MAX_MEMORY says, or 1 GiB.
func MaxMemory(asked int64) (int64, error) {
	text := os.Getenv(maxMemory)
	switch {
	case asked < 0:
		return 0, fmt.Errorf("MaxMemory is %d; give a number of bytes, or 0 for 1 GiB", asked)
	case asked > 0:
		return asked, nil
	case text == "":
		return 1 << 30, nil
	}
	n, err := units.ParseBytes(text)
	if err == nil && n <= 0 {
		err = errors.New("it is not positive")
	}
	if err != nil {
		return 0, fmt.Errorf("the environment variable %s is %q, which is no size such as 4GiB: %w", maxMemory, text, err)
	}
	return n, nil
}

// tooLarge says how a file is read whose map holds more than it may.
func tooLarge(err error) error {
	var large *feature.MemoryError
	if !errors.As(err, &large) {
		return err
	}
	return fmt.Errorf("the file is small and asks for much memory (%w); if you trust it, set the environment variable %s to more", err, maxMemory)
}
