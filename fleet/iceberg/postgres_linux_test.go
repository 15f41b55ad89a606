package iceberg

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

// startPostgres starts a PostgreSQL server of Debian's package, and returns its address, "" if it is not installed. The server does not
// run as root, so as root it runs as the user postgres.
func startPostgres(t *testing.T) string {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bins) == 0 {
		t.Log("without PostgreSQL, which is not installed")
		return ""
	}
	bin := bins[len(bins)-1]
	dir, err := os.MkdirTemp("", "ntconv-postgres")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := new(syscall.SysProcAttr)
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		must(t, err)
		uid, err := strconv.Atoi(u.Uid)
		must(t, err)
		must(t, os.Chown(dir, uid, -1))
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "ntconv", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	must(t, free.Close())
	server := command("postgres", "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "fsync=off")
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if command("pg_isready", "-q", "-h", dir, "-p", strconv.Itoa(port)).Run() == nil {
			return fmt.Sprintf("postgres://ntconv@127.0.0.1:%d/postgres?sslmode=disable", port)
		}
	}
	t.Fatal("the server does not start")
	return ""
}
