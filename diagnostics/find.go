package diagnostics

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// A Process is a .NET process, or what is left of one.
type Process struct {
	PID      int    // in the PID namespace of this process; 0 if the process is in none that is visible
	InnerPID int    // in the innermost PID namespace of the process itself
	Name     string // base name of the program, such as "dotnet"; the name of the entry assembly is Info.Assembly
	// CommandLine has the arguments separated by spaces, as the operating system states them; "" if it does not. It may
	// have any length up to 4 MiB and may contain control characters.
	CommandLine string
	Socket      string    // path for NewClient; "" if the process listens in no readable directory
	UID         int       // of the owner of the socket, else of the process; -1 if it is unknown
	User        string    // name of UID, else its number
	Container   string    // ID of the container, 12 or more hexadecimal digits; "" for none, and for that of this process
	Started     time.Time // start of the process, to a second; zero if it is unknown
	State       State
}

// A State says whether requests to a Process make sense.
type State uint8

// States of processes.
const (
	// Listening means that the process exists and listens. It may still not answer.
	Listening State = iota
	// Stale means that the socket remains of a process that was killed: its PID is unused or has been reused, or the
	// process has become another program. The file can be removed.
	Stale
	// Denied means that the process listens and that the operating system does not permit connecting to it, because it
	// belongs to another user.
	Denied
)

// String returns the name of a state in lower case.
func (s State) String() string {
	if s > Denied {
		return fmt.Sprintf("unknown(%d)", uint8(s))
	}
	return [...]string{"listening", "stale", "denied"}[s]
}

// Find returns the .NET processes that have a diagnostic socket, and sockets without a process, in the order of PID.
//
// On Linux it reads /proc and looks into the temporary directories of all processes as the processes see them, which are
// those of containers, too. It connects to no process that it can find in /proc. A process of another user whose
// environment is not readable is found in /tmp. On other Unix systems Find looks into the temporary directory of the user;
// on Windows it lists named pipes.
//
// Processes are missing that were started with DOTNET_EnableDiagnostics=0, that are in containers whose processes this
// one cannot see, or whose temporary directory has too long a name for a socket. The error is that of /proc or of the list
// of pipes; directories that cannot be read are skipped.
func Find() ([]Process, error) { return find() }

// socketName matches the names of sockets: the process ID and a key, which is the start time. The sockets of
// dotnet-dsrouter, which connects to devices, have another name.
var socketName = regexp.MustCompile(`^dotnet-diagnostic-([0-9]{1,10})-([0-9]{1,20})-socket$`)

// parseSocketName returns the process ID and the key in the name of a socket.
func parseSocketName(name string) (pid int, key uint64, ok bool) {
	m := socketName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	id, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || id == 0 {
		return 0, 0, false
	}
	key, err = strconv.ParseUint(m[2], 10, 64)
	return int(id), key, err == nil
}

// sortProcesses sorts by PID, and by socket the processes whose PID is unknown.
func sortProcesses(list []Process) {
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.State, b.State), cmp.Compare(a.Socket, b.Socket))
	})
}
