//go:build !amd64 || purego

package vec

import "testing"

func everyLevel(t *testing.T, f func(t *testing.T)) { t.Run(names[level], f) }
