package recording_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"pgregory.net/rapid"
)

// processEvent returns ExistingProcess (id 0) or ProcessCreate (id 1) of a machine-wide trace.
func processEvent(id uint32, pid uint64, name string, at ntconv.Ticks) *ntconv.Event {
	payload := binary.AppendUvarint(nil, pid)
	for _, s := range []string{name, "Unknown"} {
		payload = append(binary.LittleEndian.AppendUint16(payload, uint16(len(s))), s...)
	}
	return &ntconv.Event{
		Time: at, Type: &ntconv.Type{Provider: "Universal.System", ID: id}, Payload: payload,
		Thread: &ntconv.Thread{Process: &ntconv.Process{PID: pid}},
	}
}

// commandEvent returns an event ProcessInfo with a command line.
func commandEvent(pid uint64, line string, at ntconv.Ticks) *ntconv.Event {
	kind := &ntconv.Type{
		Provider: "Microsoft-DotNETCore-EventPipe", ID: 1, Name: "ProcessInfo",
		Fields: []ntconv.Field{{Name: "CommandLine", Type: ntconv.FieldType{Code: ntconv.TypeUTF16String}}},
	}
	var payload []byte
	for _, c := range line + "\x00" {
		payload = binary.LittleEndian.AppendUint16(payload, uint16(c))
	}
	return &ntconv.Event{Time: at, Type: kind, Payload: payload, Thread: &ntconv.Thread{Process: &ntconv.Process{PID: pid}}}
}

// A process ID belongs to one program after the other, and each has its own names.
func TestNamesOverTime(t *testing.T) {
	var n recording.Names
	for _, e := range []*ntconv.Event{
		processEvent(0, 7, "dotnet", 100), commandEvent(7, `"/usr/bin/dotnet" exec /srv/Shop.Web.dll --port 80`, 150),
		processEvent(1, 7, "bash", 500), processEvent(1, 7, "perl", 600), commandEvent(8, "/opt/shop/shop /opt/shop/shop.dll", 900),
	} {
		n.Observe(e)
	}
	for _, c := range []struct {
		pid  uint64
		at   ntconv.Ticks
		want []string
	}{
		{7, 0, []string{"dotnet", "Shop.Web"}}, {7, 499, []string{"dotnet", "Shop.Web"}}, {7, 500, []string{"bash"}},
		{7, 600, []string{"perl"}}, {7, 9999, []string{"perl"}}, {8, 0, []string{"shop"}}, {9, 0, nil},
	} {
		if got := n.At(&ntconv.Process{PID: c.pid}, c.at).All(); !slices.Equal(got, c.want) {
			t.Errorf("process %d at %d: %q, want %q", c.pid, c.at, got, c.want)
		}
	}
	if got := n.At(&ntconv.Process{PID: 9, Name: "imported"}, 0).All(); !slices.Equal(got, []string{"imported"}) {
		t.Errorf("a name of the source: %q", got)
	}
	if n.At(nil, 0) != nil {
		t.Error("no process has names")
	}
}

// The names depend neither on the order of the events nor on how often they are observed.
func TestNamesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []*ntconv.Event
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			at, pid := ntconv.Ticks(rapid.IntRange(0, 8).Draw(t, "at")), rapid.Uint64Range(1, 2).Draw(t, "pid")
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
			switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); kind {
			case 2:
				events = append(events, commandEvent(pid, name+" x", at))
			default:
				events = append(events, processEvent(uint32(kind), pid, name, at))
			}
		}
		var final recording.Names
		for _, e := range events {
			final.Observe(e)
		}
		var n recording.Names
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 2 {
			for _, i := range r.Perm(len(events)) {
				n.Observe(events[i])
				if !n.Known(events[i].Thread.Process) {
					t.Fatal("a process that an event describes is unknown")
				}
			}
		}
		for pid := range uint64(3) {
			for at := range ntconv.Ticks(9) {
				p := &ntconv.Process{PID: pid}
				if got, want := n.At(p, at).All(), final.At(p, at).All(); !slices.Equal(got, want) {
					t.Fatalf("process %d at %d: %q in another order, %q", pid, at, got, want)
				}
			}
		}
	})
}
