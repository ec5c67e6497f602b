//go:build !unix

package neighbours

import "os"

// Where files cannot be mapped they are read.

func mapped(*os.File, int64) []byte { return nil }

func unmap([]byte) {}
