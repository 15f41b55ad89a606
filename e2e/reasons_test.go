package e2e

import (
	"bytes"
	"encoding/binary"
	hexcode "encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A reason explains a difference between ntconv and the reference, and recognizes it from the event itself. Only
// explained differences are permitted.
type reason struct {
	id, text string
	explains func(t *testing.T, d *observed) bool
}

var reasons = []reason{
	{"looked-up", "TraceEvent finds the name of the type in other events. The payload contains only the ID of the type, which ntconv shows.", isLookedUp},
	{"newest-layout", "TraceEvent shows the fields of an event's newest version for all versions, as zero or empty if the version in the file lacks the field. ntconv shows the fields of that version.", isNewestLayout},
	{"other-name", "TraceEvent uses another name for the field. ntconv shows the name in the event's metadata, with the same value.", isOtherName},
	{"same-id", "Two event types of this provider have the same ID. TraceEvent decodes all events with the fields that were declared last, ntconv each event with the fields of its type.", isSameID},
	{"tracepoint", "The recorder declares `char comm[16]` as one byte and omits the later fields, so TraceEvent shows one letter. ntconv shows the bytes of the kernel record after its four common fields.", isTracepoint},
	{"own-fields", "The event has the ID of a runtime event but declares other fields. TraceEvent decodes it with the layout of the runtime and reads past the payload, ntconv with the declared fields.", isOwnFields},
	{"plain-numbers", "one-collect writes number labels without the zigzag encoding that the format requires. ntconv recognizes its traces, TraceEvent does not: 300 becomes 150.", isPlainNumber},
	{"netperf-related", "TraceEvent reads the related activity ID of a netperf event at a wrong offset: the bytes belong to the payload, the stack or the next event. The header has no such ID.", isFromElsewhere},
	{"decimal", "TraceEvent does not decode decimals.", isDecimal},
	{"bool-array", "TraceEvent reads four bytes for each bool of an array, so all later values are wrong. ntconv shows the values that the program wrote.", isAsWritten},
}

func explain(t *testing.T, d *observed) string {
	for _, r := range reasons {
		if r.explains(t, d) {
			return r.id
		}
	}
	return ""
}

func isRuntime(provider string) bool { return strings.HasPrefix(provider, runtimeProvider) }

func isNewestLayout(t *testing.T, d *observed) bool {
	if !isRuntime(d.want.Provider) || !d.absent || !isZero(d.a) {
		return false
	}
	fields, known := manifest()[d.want.kind()]
	return !known || !strings.Contains(fields, " "+d.field+":")
}

func isZero(v any) bool {
	n, ok := v.(json.Number)
	return v == nil || v == "" || ok && n == "0"
}

// manifest returns the fields of every runtime event, by its kind, from the runtime's own manifests. The result is
// empty if the shared directory is absent.
var manifest = sync.OnceValue(func() map[string]string {
	root := os.Getenv("NTCONV_SHARED")
	if root == "" {
		root = "../../shared"
	}
	text, err := os.ReadFile(root + "/reference/clr-events.txt")
	if err != nil {
		return nil
	}
	m := map[string]string{}
	provider := ""
	for row := range strings.Lines(string(text)) {
		switch words := strings.Fields(row); {
		case len(words) > 1 && words[0] == "provider":
			provider = words[1]
		case len(words) > 1 && words[0] == "event":
			_, fields, _ := strings.Cut(row, " : ")
			m[provider+" "+words[1]] = " " + fields
		}
	}
	return m
})

// The 18 bytes of FinalizeObject are two pointers and a short number.
func isLookedUp(t *testing.T, d *observed) bool {
	return d.want.kind() == runtimeProvider+" 29/0" && d.field == "TypeName" && d.absent && d.want.Size == 18 && len(d.got.fields(t)) == 3
}

func isOtherName(t *testing.T, d *observed) bool {
	return d.want.kind() == "System.Threading.Tasks.TplEventSource 12/0" && d.absent && d.field == "ContinuationId" &&
		same(d.a, d.got.fields(t)["ContinueWithTaskId"])
}

// The reference shows fields of Configuration for events with the two fields of EventCounters.
func isSameID(t *testing.T, d *observed) bool {
	return d.want.kind() == "Microsoft-AspNetCore-Server-Kestrel 11/0" && d.absent && d.want.Name == "Configuration" && d.got.Name == "EventCounters"
}

func isTracepoint(t *testing.T, d *observed) bool {
	data, _ := d.got.fields(t)["data"].(string)
	first, err := hexcode.DecodeString(strings.TrimPrefix(data, "hex:"))
	return d.absent && d.want.Provider == "sched" && d.field == "comm" && err == nil && len(first) >= 16 && same(d.a, json.Number(strconv.Itoa(int(first[0]))))
}

func isOwnFields(t *testing.T, d *observed) bool {
	// 100 in four bytes, then "A" and its terminator in UTF-16.
	return strings.HasPrefix(d.tr.name, "onecollect-") && d.want.kind() == runtimeProvider+" 10/0" && d.want.Size == 8 &&
		string(d.got.Payload) == `{"AllocationAmount":100,"TypeName":"A"}`
}

func isPlainNumber(_ *testing.T, d *observed) bool {
	theirs, ok1 := integer(d.a)
	ours, ok2 := integer(d.b)
	return strings.HasPrefix(d.tr.name, "onecollect-") && strings.HasPrefix(d.field, "labels.") && ok1 && ok2 &&
		theirs.Int64() == ours.Int64()>>1 && ours.Int64()&1 == 0
}

func isFromElsewhere(t *testing.T, d *observed) bool {
	if d.field != "related_activity_id" || d.got.Related != "" || !isNetperf(d.tr) {
		return false
	}
	body, err := hexcode.DecodeString(d.got.PayloadHex)
	must(t, err)
	var stack []string
	if d.got.Stack != nil {
		decode(t, d.got.Stack, &stack)
	}
	body = binary.LittleEndian.AppendUint32(body, uint32(8*len(stack)))
	for _, pc := range stack {
		n, err := strconv.ParseUint(pc, 16, 64)
		must(t, err)
		body = binary.LittleEndian.AppendUint64(body, n)
	}
	id := guid(t, d.want.Related)
	if bytes.Contains(body, id) {
		return true
	}
	file := unzstd(t, d.tr.path)
	for at := bytes.Index(file, body); at >= 0 && len(body) > 12; {
		end := at + len(body)
		if bytes.Contains(file[at:min(end+nextHeader, len(file))], id) {
			return true
		}
		next := bytes.Index(file[end:], body)
		if next < 0 {
			break
		}
		at = end + next
	}
	return false
}

// nextHeader is the maximum distance in bytes from the end of an event at which TraceEvent may read its related
// activity ID.
const nextHeader = 32

// guid returns the bytes of a GUID in the byte order of a file.
func guid(t *testing.T, text string) []byte {
	b, err := hexcode.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 {
		t.Fatalf("no GUID: %q", text)
	}
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5], b[6], b[7] = b[5], b[4], b[7], b[6]
	return b
}

func isNetperf(tr trace) bool {
	return strings.Contains(tr.name, "netperf") || strings.Contains(tr.path, ".netperf")
}

func isDecimal(t *testing.T, d *observed) bool {
	theirs, _ := d.a.(map[string]any)
	ours, _ := d.b.(map[string]any)
	// Sources.cs.
	return d.got.Name == "Type decimal" && theirs["V"] == "[UNSUPPORTED TYPE]" && ours["V"] == json.Number("12.34")
}

// isAsWritten applies to arrays whose values the program reported.
func isAsWritten(t *testing.T, d *observed) bool {
	if d.want.Provider != "Shop-SelfDescribing" || d.got.Name != "Arrays" {
		return false
	}
	var truth struct {
		Events []struct {
			Provider, Name string
			Payload        map[string]any
		}
	}
	readTruth(t, d.tr.truth[0], &truth)
	for _, e := range truth.Events {
		if v, ok := e.Payload[d.field]; ok && e.Provider == d.want.Provider && e.Name == d.got.Name {
			return same(joined(v, d.b), d.b)
		}
	}
	return false
}

// joined returns a list of characters as a string, if other is a string.
func joined(v, other any) any {
	list, _ := v.([]any)
	if _, ok := other.(string); !ok {
		return v
	}
	var s strings.Builder
	for _, c := range list {
		c, _ := c.(string)
		s.WriteString(c)
	}
	return s.String()
}

// readTruth reads the report of a program about itself.
func readTruth(t *testing.T, path string, v any) {
	t.Helper()
	b := contentAt(t, path)
	decode(t, b, v)
}
