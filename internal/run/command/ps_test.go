package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/diagnostics"
)

// Names and command lines are those of other processes: a cell has one line, no control characters, and a maximum length.
func TestPSTable(t *testing.T) {
	var b bytes.Buffer
	err := writeProcesses(&b, []listedProcess{
		{PID: 1, Name: "a\tb\nc\x1b[2J", Runtime: strings.Repeat("9", 100), CommandLine: strings.Repeat("ü", 201), Container: "0123456789abcdef"},
		{Name: "\xff", Problem: "no\x1b"},
	})
	must(t, err)
	want := "PID  NAME            RUNTIME                                    USER  CONTAINER     SINCE  STATE   COMMAND LINE\n" +
		`1    a\tb\nc\x1b[2J  ` + strings.Repeat("9", 40) + "…  -     0123456789ab  -      -       " + strings.Repeat("ü", 200) + "…\n" +
		`-    \xff            -                                          -     -             -      no\x1b  -` + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// The next step names the user of a process, which may be root.
func TestPSDenied(t *testing.T) {
	for uid, want := range map[int]string{
		0: "no permission: run as root", 1: "no permission: run as user or root", -1: "no permission: run as root",
	} {
		p := listedProcess{UID: uid, User: "user"}
		if p.setState(diagnostics.Denied); p.Problem != want || p.State != stateDenied {
			t.Errorf("%d: %+v", uid, p)
		}
	}
}
