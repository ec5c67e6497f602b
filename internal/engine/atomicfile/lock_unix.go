//go:build unix && !solaris && !illumos && !aix

package atomicfile

import (
	"os"
	"syscall"
)

// locked is a file that nobody else has locked, locked until it is closed; nil if that fails. It is a regular file of this
// user, so that nothing else in a shared folder is opened or removed.
func locked(path string) *os.File {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	if owner, ok := st.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil
	}
	return f
}
