//go:build !linux && !windows

package diagnostics

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// find looks into the temporary directory of the user. The key in the name of a socket is the start time of the process
// in seconds since 1970.
func find() ([]Process, error) {
	entries, err := os.ReadDir(os.TempDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Process
	for _, e := range entries {
		pid, key, ok := parseSocketName(e.Name())
		if !ok {
			continue
		}
		p := Process{PID: pid, InnerPID: pid, Socket: filepath.Join(os.TempDir(), e.Name()), UID: -1}
		if key < 1<<40 {
			p.Started = time.Unix(int64(key), 0)
		}
		if info, err := e.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				p.UID = int(s.Uid)
				p.User = userName(p.UID)
			}
		}
		p.State = state(pid, p.Socket)
		list = append(list, p)
	}
	sortProcesses(list)
	return list, err
}

// state returns the state of a process: signal 0 only checks whether it exists, and a permission error means that it does.
func state(pid int, socket string) State {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return Stale
	}
	return probe(socket)
}
