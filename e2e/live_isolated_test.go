//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// namespaces skips the test if this process cannot create the namespaces that containers have.
func namespaces(t *testing.T, flags ...string) {
	t.Helper()
	for _, name := range []string{"unshare", "chroot", "setpriv"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	if out, err := exec.Command("unshare", append(flags, "true")...).CombinedOutput(); err != nil {
		t.Skipf("creating namespaces needs permission: %v: %s", err, out)
	}
}

// copyCommand copies ntconv into a directory that others can read.
func copyCommand(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "ntconv")
	must(t, os.WriteFile(path, contentAt(t, command), 0o755))
	return path
}

// The binary needs no other file: in a directory with itself, /proc and the socket of the process, it finds and records it.
func TestLiveScratch(t *testing.T) {
	namespaces(t, "--mount")
	l := startLive(t, "attach", "120000")
	root := filepath.Join(l.dir, "root")
	must(t, os.MkdirAll(filepath.Join(root, "proc"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "tmp"), 0o777))
	copyCommand(t, root)
	inside := func(args string) result {
		script := fmt.Sprintf("mount --rbind /proc %[1]s/proc && mount --bind %[2]s %[1]s/tmp && exec chroot %[1]s /ntconv %[3]s", root, l.dir, args)
		cmd := exec.Command("unshare", "--mount", "sh", "-c", script)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // a container from scratch has no other variable
		return output(t, cmd)
	}
	if r := inside("ps"); r.code != complete || !strings.Contains(string(r.stdout), strconv.Itoa(l.pid())) {
		t.Errorf("ps: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	for _, out := range []string{"scratch.nettrace", "scratch.pb.gz"} {
		if r := inside(fmt.Sprintf("collect -p %d --duration 700ms -o /tmp/%s", l.pid(), out)); r.code != complete {
			t.Errorf("collect: exit code %d: %s", r.code, r.stderr)
			continue
		}
		if r := run(t, command, "top", filepath.Join(l.dir, out)); !strings.Contains(string(r.stdout), "Shop.Cpu.Spin") {
			t.Errorf("%s: exit code %d: %s%s", out, r.code, r.stdout, r.stderr)
		}
	}
}

// output runs a command to its end.
func output(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, msg strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &msg
	must(t, cmd.Start())
	_ = cmd.Wait() // the exit code states it
	return result{cmd.ProcessState.ExitCode(), []byte(out.String()), []byte(msg.String())}
}

// Processes in other PID namespaces, as those of containers, are found and recorded by their outer PID: with a temporary
// directory of their own or a common one, also if both have the same PID inside.
func TestLiveNamespaces(t *testing.T) {
	atNight(t)
	namespaces(t, "--pid", "--fork", "--mount-proc")
	host := shortDir(t)
	common := shortDir(t)
	env := liveEnv(t, host)
	start := func(script string) (outer int) {
		s := launch(t, append(env, "TMPDIR="+common), "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
			script+"exec "+shared(t, "oracle", "shop")+" attach 120000")
		for range 200 {
			data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.pid())) // not there yet, or ended
			if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && strings.Contains(s.out.String(), "ready") {
				return pid
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("the program does not start: %s%s", s.out.String(), s.msg.String())
		return 0
	}
	own := "mount -t tmpfs tmpfs " + common + " && "
	pids := []int{start(own), start(""), start("")}
	r := runIn(t, host, "ps", "--json")
	var list []struct {
		PID      int    `json:"pid"`
		InnerPID int    `json:"inner_pid"`
		State    string `json:"state"`
	}
	decode(t, r.stdout, &list)
	for _, pid := range pids {
		found := 0
		for _, p := range list {
			if p.PID == pid {
				found++
				if p.State != "listening" {
					t.Errorf("%+v", p)
				}
			}
		}
		if found != 1 {
			t.Errorf("process %d is listed %d times: %s%s", pid, found, r.stdout, r.stderr)
		}
		out := filepath.Join(host, fmt.Sprint(pid, ".nettrace"))
		if r := runIn(t, host, "collect", "-p", strconv.Itoa(pid), "--duration", "700ms", "-o", out); r.code != complete {
			t.Errorf("process %d: exit code %d: %s", pid, r.code, r.stderr)
			continue
		}
		samples := 0
		for _, e := range recordedLines(t, out, complete) {
			if isSample(e) {
				samples++
			}
		}
		if samples == 0 {
			t.Errorf("process %d: no samples", pid)
		}
		if n := (&live{started: &started{cmd: &exec.Cmd{Process: &os.Process{Pid: pid}}}}).sessions(t); n != 0 {
			t.Errorf("process %d has %d sessions", pid, n)
		}
	}
}

// A sidecar: two containers with a PID namespace of their own each, in which the program has the same PID, share the directory of
// the sockets with a third one, which records both.
func TestLiveSidecar(t *testing.T) {
	atNight(t)
	namespaces(t, "--pid", "--fork", "--mount-proc")
	dir := shortDir(t)
	inContainer := func(name string, args ...string) *started {
		args = append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", name}, args...)
		return launch(t, append(liveEnv(t, dir), "SHOP_TRUTH="+filepath.Join(t.TempDir(), "truth.json")), "unshare", args...)
	}
	for range 2 {
		s := inContainer(shared(t, "oracle", "shop"), "attach", "120000")
		for i := 0; !strings.Contains(s.out.String(), "ready"); i++ {
			if i == 600 {
				t.Fatalf("the program does not start: %s", s.msg.String())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	out := filepath.Join(dir, "out")
	own := inContainer(command, "collect", "--all", "--every", "1s", "--duration", "4s", "--to", "folded", "-o", out+"/")
	if code := own.wait(t); code != complete {
		t.Fatalf("exit code %d: %s", code, own.msg.String())
	}
	processes := map[string]int{}
	for _, path := range glob(t, filepath.Join(out, "shop-*")) {
		if text := string(contentAt(t, path)); strings.Contains(text, "Shop.Cpu.Spin") {
			name, _, _ := strings.Cut(filepath.Base(path), "_")
			processes[name]++
		}
	}
	if len(processes) != 2 {
		t.Errorf("windows of %v: %s", processes, own.msg.String())
	}
	for name, n := range processes {
		if n < 2 {
			t.Errorf("%s has %d windows", name, n)
		}
	}
}

// systemd accepts the unit of the document.
func TestLiveUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	document := string(contentAt(t, "../docs/live.md"))
	_, unit, _ := strings.Cut(document, "```ini\n")
	unit, _, found := strings.Cut(unit, "```")
	if !found || !strings.Contains(unit, "/usr/local/bin/ntconv") {
		t.Fatalf("docs/live.md has no unit")
	}
	path := filepath.Join(t.TempDir(), "profiles.service")
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(unit, "/usr/local/bin/ntconv", command)), 0o644))
	if r := run(t, "systemd-analyze", "verify", "--man=no", path); r.code != 0 || strings.Contains(string(r.stderr), "profiles.service") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// A user can record own processes without other rights. Those of others are refused with who may.
func TestLiveNobody(t *testing.T) {
	namespaces(t, "--mount")
	const nobody = 65534
	asNobody := func(env []string, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return cmd
	}
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o1777))
	ntconv := copyCommand(t, dir)
	env := liveEnv(t, dir)
	cache := strings.TrimPrefix(env[1], "TRACEEVENT_CACHE=")
	if out, err := asNobody(env, "ls", cache+"/bundle/shop").CombinedOutput(); err != nil {
		// The program is unpacked for one user only.
		copied := filepath.Join(dir, "unpacked")
		if out, err := exec.Command("cp", "-r", cache, copied).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if out, err := exec.Command("chmod", "-R", "a+rX", copied).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		env[1] = "TRACEEVENT_CACHE=" + copied
		_ = out
	}
	bundle := strings.TrimPrefix(env[1], "TRACEEVENT_CACHE=") + "/bundle"
	shop := asNobody(append(env, "DOTNET_ROOT="+bundle, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1"), bundle+"/dotnet", bundle+"/shop/shop.dll", "attach", "120000")
	var msg locked
	shop.Stdout, shop.Stderr = &msg, &msg
	if err := shop.Start(); err != nil {
		t.Skipf("changing the user needs permission: %v", err)
	}
	defer func() { _ = shop.Process.Kill(); _ = shop.Wait() }()
	for i := 0; !strings.Contains(msg.String(), "ready"); i++ {
		if i == 400 {
			t.Fatal(msg.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
	own := output(t, asNobody(env, ntconv, "collect", "-p", strconv.Itoa(shop.Process.Pid), "--duration", "500ms", "-o", dir+"/own.pb.gz"))
	if own.code != complete {
		t.Errorf("own process: exit code %d: %s", own.code, own.stderr)
	}
	roots := launchLive(t, dir, "attach", "120000")
	roots.await(t)
	r := output(t, asNobody(env, ntconv, "collect", "-p", strconv.Itoa(roots.pid()), "--duration", "500ms", "-o", dir+"/other.pb.gz"))
	if r.code != unreadable || !strings.Contains(string(r.stderr), "belongs to root") || !strings.Contains(string(r.stderr), "as the user of the process, or as root") {
		t.Errorf("process of another user: exit code %d: %s", r.code, r.stderr)
	}
	if r := output(t, asNobody(env, ntconv, "ps")); r.code != complete || !strings.Contains(string(r.stdout), strconv.Itoa(shop.Process.Pid)) {
		t.Errorf("ps: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	} else {
		t.Logf("%s%s", r.stdout, r.stderr)
	}
}
