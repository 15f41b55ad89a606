package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// askTime is the time that a process has to describe itself. All processes are asked at the same time.
const askTime = 2 * time.Second

func (a *app) psCmd() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the .NET processes that can be recorded",
		Long: "List the .NET processes that listen at a diagnostic socket: process ID, entry assembly, version of the runtime, user,\n" +
			"container, start and command line. Processes in containers are listed if their process IDs are visible here, which needs\n" +
			"root on the host, or a container that shares the PID namespace. A column STATE appears if a process does not answer or\n" +
			"belongs to another user.",
		Example: examples(
			"all processes that can be recorded", "ntconv ps",
			"the process ID of a service", "ntconv ps --json | jq '.[] | select(.name == \"shop\") | .pid'",
			"also the sockets that killed processes have left", "ntconv ps --all",
		),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return a.listProcesses(asJSON, all)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&asJSON, "json", false, "print a JSON array, with sockets and complete command lines")
			flags.BoolVar(&all, "all", false, "also list sockets whose process has been killed")
		})
	})
}

// States of a listedProcess.
const (
	stateListening = "listening"
	stateSilent    = "silent"
	stateInvalid   = "invalid"
	stateDenied    = "denied"
	stateStale     = "stale"
)

// A listedProcess is an element of the output of ntconv ps --json.
type listedProcess struct {
	PID         int    `json:"pid"` // 0 if it is not visible here
	InnerPID    int    `json:"inner_pid,omitempty"`
	Name        string `json:"name"` // entry assembly, or program
	Runtime     string `json:"runtime,omitempty"`
	RID         string `json:"rid,omitempty"`
	UID         int    `json:"uid"`
	User        string `json:"user,omitempty"`
	Container   string `json:"container,omitempty"`
	Started     string `json:"started,omitempty"` // RFC 3339
	CommandLine string `json:"command_line,omitempty"`
	Socket      string `json:"socket,omitempty"`
	State       string `json:"state"`
	Problem     string `json:"problem,omitempty"`
}

// listProcesses prints the .NET processes.
func (a *app) listProcesses(asJSON, all bool) error {
	processes, err := diagnostics.Find()
	if err != nil {
		return fail(exitInput, fmt.Errorf("list of processes: %w", err))
	}
	list := askProcesses(processes)
	stale := len(list)
	if !all {
		list = slices.DeleteFunc(list, func(p listedProcess) bool { return p.State == stateStale })
	}
	stale -= len(list)
	var b bytes.Buffer
	if asJSON {
		err = writeJSON(&b, list)
	} else {
		err = writeProcesses(&b, list)
	}
	if err != nil {
		return fail(exitOutput, err)
	}
	if err := a.show(b.String()); err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, noProcesses)
	}
	if stale > 0 {
		fmt.Fprintf(a.stderr, "ntconv: %s without a process; --all lists them\n", message.Count(int64(stale), "socket"))
	}
	return nil
}

// noProcesses is the message for an empty list.
const noProcesses = "ntconv: no .NET process found; processes are not listed if they run with DOTNET_EnableDiagnostics=0, with a TMPDIR that this user " +
	"cannot read (run as root), or in a container that is not visible here (run ntconv in it, or in a container with its PID namespace and TMPDIR)"

// askProcesses asks all processes at the same time, so that one that does not answer delays no other.
func askProcesses(processes []diagnostics.Process) []listedProcess {
	list := make([]listedProcess, len(processes))
	var wait sync.WaitGroup
	for i := range processes {
		p := &processes[i]
		list[i] = listedProcess{
			PID: p.PID, Name: p.Name, UID: p.UID, User: p.User, Container: p.Container, CommandLine: p.CommandLine, Socket: p.Socket,
		}
		if p.InnerPID != p.PID {
			list[i].InnerPID = p.InnerPID
		}
		if !p.Started.IsZero() {
			list[i].Started = p.Started.UTC().Format(time.RFC3339)
		}
		if p.State == diagnostics.Listening {
			wait.Go(func() { list[i].ask() })
		} else {
			list[i].setState(p.State)
		}
	}
	wait.Wait()
	return list
}

// setState sets the state, and the next step, of a process that cannot be asked.
func (p *listedProcess) setState(state diagnostics.State) {
	p.State = stateListening
	switch state {
	case diagnostics.Stale:
		p.State, p.Problem = stateStale, "no process; remove with: rm "+message.ShellWord(p.Socket)
	case diagnostics.Denied:
		p.State, p.Problem = stateDenied, "no permission: run as root"
		if p.UID > 0 {
			p.Problem = "no permission: run as " + p.User + " or root"
		}
	}
}

// ask asks a process about itself. The command line of the operating system is more complete than that of a runtime that
// is starting, which has the program only.
func (p *listedProcess) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	info, err := diagnostics.NewClient(p.Socket).Info(ctx)
	p.State = stateListening
	switch {
	case err == nil:
		p.Name = cmp.Or(info.Assembly, p.Name)
		p.Runtime, p.RID = info.Runtime, info.RID
		p.CommandLine = cmp.Or(p.CommandLine, info.CommandLine)
	case errors.Is(err, fs.ErrPermission):
		p.setState(diagnostics.Denied)
	case errors.Is(err, diagnostics.ErrGone):
		p.setState(diagnostics.Stale)
	case errors.Is(err, diagnostics.ErrTimeout):
		p.State = stateSilent
		p.Problem = fmt.Sprintf("no answer in %v: stopped, suspended, or busy with another client", askTime)
	case errors.Is(err, diagnostics.ErrUnknownCommand): // .NET Core 3 can be recorded and does not describe itself
	default:
		p.State, p.Problem = stateInvalid, err.Error()
	}
}

// Limits of the table, in characters. --json has no limits.
const (
	maxShownText    = 40
	maxShownCommand = 200
	shownContainer  = 12 // as docker ps shows them
)

// writeProcesses writes the table of ntconv ps. The column STATE is omitted if all processes have answered.
func writeProcesses(b *bytes.Buffer, list []listedProcess) error {
	problems := slices.ContainsFunc(list, func(p listedProcess) bool { return p.Problem != "" })
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	header := "PID\tNAME\tRUNTIME\tUSER\tCONTAINER\tSINCE\t"
	if problems {
		header += "STATE\t"
	}
	fmt.Fprintln(w, header+"COMMAND LINE")
	for i := range list {
		p := &list[i]
		pid := "-"
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		cells := []string{
			pid, clipped(p.Name, maxShownText), clipped(p.Runtime, maxShownText), clipped(p.User, maxShownText),
			orDash(p.Container[:min(len(p.Container), shownContainer)]), orDash(p.Started),
		}
		if problems {
			cells = append(cells, orDash(message.Line(p.Problem)))
		}
		fmt.Fprintln(w, strings.Join(append(cells, clipped(p.CommandLine, maxShownCommand)), "\t"))
	}
	return w.Flush()
}

// clipped returns text of a process for a cell of the table: without control characters, and not longer than a number of
// characters.
func clipped(text string, limit int) string {
	n := 0
	for i := range text {
		if n++; n > limit {
			text = text[:i] + "…"
			break
		}
	}
	return orDash(message.Line(text))
}
