//go:build unix

package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Postgres starts a PostgreSQL server of the test's own, with settings such as "timezone=UTC", in a temporary folder. It returns the
// address of an empty database, whose owner's password is in the environment, and what stops the server at once; it stops with the
// test anyway. It runs as the user postgres where the test is root, since the server refuses that.
func Postgres(t testing.TB, settings ...string) (url string, stop func()) {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(bins) == 0 {
		bins = []string{Program(t, "initdb")}
	}
	bin := filepath.Dir(bins[len(bins)-1])
	dir, err := os.MkdirTemp("", "mercer-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		return cmd
	}
	if os.Geteuid() == 0 {
		postgres, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(postgres.Uid)
		gid, _ := strconv.Atoi(postgres.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		plain := command
		command = func(name string, args ...string) *exec.Cmd {
			cmd := plain(name, args...)
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
			return cmd
		}
	}
	data, password := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte("geheim\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command("initdb", "-D", data, "-U", "owner", "-A", "scram-sha-256", "--pwfile", password, "-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	t.Setenv("PGPASSWORD", "geheim")
	log := filepath.Join(dir, "log")
	for range 20 { // another process may take the port before the server does
		port := freePort(t)
		args := []string{"-D", data, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"}
		for _, s := range settings {
			args = append(args, "-c", s)
		}
		running := command("postgres", args...)
		if stop = serve(t, running, log, command("pg_isready", "-h", "127.0.0.1", "-p", port).Args); stop != nil {
			t.Cleanup(stop)
			return fmt.Sprintf("postgres://owner@127.0.0.1:%s/postgres", port), stop
		}
	}
	text, _ := os.ReadFile(log)
	t.Fatalf("the server does not start:\n%s", text)
	return "", nil
}

// freePort is a port of loopback that was free a moment ago.
func freePort(t testing.TB) string {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
}

// serve starts a server and waits until it answers; what it says goes to a file. The result stops it, nil if it has ended.
func serve(t testing.TB, server *exec.Cmd, log string, ready []string) (stop func()) {
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	server.Stderr = file
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		server.Wait()
		close(ended)
	}()
	for {
		answers := exec.Command(ready[0], ready[1:]...).Run() == nil
		select {
		case <-ended: // what answered is another one
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		if answers {
			return func() {
				server.Process.Signal(syscall.SIGQUIT)
				<-ended
			}
		}
	}
}
