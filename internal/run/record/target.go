package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
)

// ErrNoProcess means that no process, or more than one, fits what was asked for.
var ErrNoProcess = errors.New("no such process")

// A Target is a process that can be recorded.
type Target struct {
	PID    int    // in the PID namespace of this process; 0 if it is not visible there
	Name   string // of the program: its entry assembly, or its file
	Client *diagnostics.Client
	Info   diagnostics.Info
}

// String describes the target for messages.
func (t *Target) String() string {
	if t.PID == 0 {
		return fmt.Sprintf("process %d of another PID namespace (%s)", t.Info.PID, t.Name)
	}
	if t.Name == "" {
		return fmt.Sprintf("process %d", t.PID)
	}
	return fmt.Sprintf("process %d (%s)", t.PID, t.Name)
}

// ID returns what distinguishes the target from others that run at the same time, for names of files: its PID. In another PID
// namespace it is not unique, and part of the cookie of the runtime precedes it.
func (t *Target) ID() string {
	if t.PID == 0 {
		return fmt.Sprintf("%x-%d", t.Info.Cookie[:4], t.Info.PID)
	}
	return fmt.Sprint(t.PID)
}

// askTimeout bounds the question to one of several processes: one that hangs must not hide the others.
const askTimeout = 2 * time.Second

// ByPID returns the process with a PID, in the PID namespace of this process. Errors wrap ErrNoProcess or
// fs.ErrPermission, or are those of package diagnostics.
func ByPID(ctx context.Context, pid int) (*Target, error) {
	list, err := diagnostics.Find()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(p diagnostics.Process) bool { return p.PID == pid && p.State != diagnostics.Stale })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%w: process %d has no diagnostic port", ErrNoProcess, pid)
	case list[i].State == diagnostics.Denied:
		return nil, fmt.Errorf("process %d belongs to %s: %w", pid, list[i].User, fs.ErrPermission)
	}
	return targetOf(ctx, &list[i])
}

func targetOf(ctx context.Context, p *diagnostics.Process) (*Target, error) {
	t := &Target{PID: p.PID, Name: p.Name, Client: diagnostics.NewClient(p.Socket)}
	var err error
	if t.Info, err = t.Client.Info(ctx); err != nil {
		return nil, fmt.Errorf("process %d: %w", p.PID, err)
	}
	t.Name = nameOf(&t.Info, p.Name)
	return t, nil
}

// nameOf returns the name of a program: older runtimes state only the command line.
func nameOf(info *diagnostics.Info, known string) string {
	if info.Assembly != "" {
		return info.Assembly
	}
	if known == "" {
		word, _, _ := strings.Cut(info.CommandLine, " ")
		known = filepath.Base(word)
	}
	return known
}

// Named returns the processes whose program has a name, without regard to case; with "", all that answer. A process that
// does not answer is not in the list.
func Named(ctx context.Context, name string) ([]*Target, error) {
	list, err := diagnostics.Find()
	if err != nil {
		return nil, err
	}
	found := make([]*Target, len(list))
	var wait sync.WaitGroup
	for i := range list {
		if list[i].State != diagnostics.Listening {
			continue
		}
		wait.Go(func() {
			one, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			if t, err := targetOf(one, &list[i]); err == nil && (name == "" || t.hasName(name)) {
				found[i] = t
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(found, func(t *Target) bool { return t == nil }), nil
}

// hasName reports whether the target is called name, which may lack the extension of an assembly.
func (t *Target) hasName(name string) bool {
	trim := func(s string) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(s), ".dll"), ".exe")
	}
	return trim(t.Name) == trim(name)
}

// ByName returns the only process whose program has a name. Errors wrap ErrNoProcess and list the choice.
func ByName(ctx context.Context, name string) (*Target, error) {
	list, err := Named(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 1:
		return list[0], nil
	case len(list) == 0:
		return nil, fmt.Errorf("%w: no process that answers is called %s", ErrNoProcess, name)
	}
	var pids []string
	for _, t := range list {
		pids = append(pids, fmt.Sprint(t.PID))
	}
	return nil, fmt.Errorf("%w: %d processes are called %s: choose one by its PID: %s",
		ErrNoProcess, len(list), name, strings.Join(pids, ", "))
}
