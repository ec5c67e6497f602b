//go:build !unix

package learn

import "os"

// If files cannot be mapped they are read in parts, and removed when they are closed.

func mapped(*os.File, int64) []byte { return nil }

func unmap([]byte) {}

func unname(*os.File) bool { return false }
