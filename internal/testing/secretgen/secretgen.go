// Package secretgen generates a trace with a secret in every text, every array of bytes and every attribute, and finds
// secrets in outputs of any format.
package secretgen

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A Secret is a word that occurs at one place of the trace only.
type Secret struct {
	Word     string // lower-case letters and digits
	Provider string // empty for a property of the model
	Path     string // EVENT.FIELD, or the name of the property
}

// A Trace is a trace and its secrets.
type Trace struct {
	ntconvtest.Trace
	Secrets []Secret
	seq     uint32
}

// New returns a trace with an event of each layout that package clr knows, of a self-describing type with all codes,
// and with pairs of the given keys.
func New(keys []string) *Trace {
	t := &Trace{}
	t.model()
	for _, provider := range clr.ProviderNames() {
		for id := range uint32(400) {
			for version := range uint8(6) {
				if l := clr.Lookup(provider, id, version); l != nil && l.ID == id && l.Version == version {
					t.layout(l)
				}
			}
		}
	}
	t.selfDescribing()
	t.pairs(keys)
	t.Events = append(t.Events, &ntconv.Event{
		Kind: ntconv.KindOpaque, CPU: ntconv.CPUUnknown, Seq: 77, Offset: -1, Payload: []byte(t.Word("", "block")),
	})
	return t
}

// Keys returns the keys in the text of a policy.
func Keys(policy string) (keys []string) {
	for line := range strings.Lines(policy) {
		if w := strings.Fields(line); len(w) == 4 && w[0] == "key" && !strings.Contains(w[2], "*") {
			keys = append(keys, w[2])
		}
	}
	return keys
}

// Strict returns rules by which no class of a policy keeps names: texts that are not in a list are replaced.
func Strict(policy string) string {
	var b strings.Builder
	for line := range strings.Lines(policy) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "class" && (w[2] == "keep" || w[2] == "file") {
			fmt.Fprintf(&b, "class %s replace\n", w[1])
		}
	}
	return b.String()
}

// Word returns a new secret and records its place.
func (t *Trace) Word(provider, path string) string {
	const letters = "bcdfghjklmnpqrstvwxz"
	n := len(t.Secrets)
	word := []byte("sx0000vqkzpj")
	copy(word[2:6], fmt.Sprintf("%04d", n%10000))
	for i := 6; i < len(word); i++ {
		n = n*31 + 7
		word[i] = letters[n%len(letters)]
	}
	t.Secrets = append(t.Secrets, Secret{string(word), provider, path})
	return string(word)
}

// Text returns a text with a new secret in one of several forms.
func (t *Trace) Text(provider, path string) string {
	w := t.Word(provider, path)
	form := len(t.Secrets) % 10
	percent, unicode := "", ""
	for _, b := range []byte(w) {
		percent += fmt.Sprintf("%%%02X", b)
		unicode += fmt.Sprintf(`\u%04x`, b)
	}
	return []string{
		w, "/home/" + w + "/Documents/" + w + ".txt", `C:\Users\` + w + `\` + w + ".dll --name=" + w,
		"https://user:" + w + "@" + w + ".example.com:8080/a/" + w + "?q=" + w, `{"` + w + `":"` + w + `","n":[1,"` + w + `"]}`,
		`{"a":"` + unicode + `"}`, "/x?name=" + percent, base64.StdEncoding.EncodeToString([]byte(w)),
		hex.EncodeToString([]byte(w)), "SELECT " + w + " FROM t WHERE name = '" + w + "' -- " + w + "@mail.org",
	}[form]
}

// Needles returns the forms in which an output may contain a secret.
func (s *Secret) Needles() []string {
	w := s.Word
	wide, percent, unicode := "", "", ""
	for _, b := range []byte(w) {
		wide += string([]byte{b, 0})
		percent += fmt.Sprintf("%%%02X", b)
		unicode += fmt.Sprintf(`\u%04x`, b)
	}
	b64 := base64.StdEncoding.EncodeToString
	return []string{
		w, strings.ToUpper(w), wide, percent, unicode, hex.EncodeToString([]byte(w)),
		strings.ToUpper(hex.EncodeToString([]byte(w))), hex.EncodeToString([]byte(wide)),
		// Base64 of the bytes at each of three positions, without the characters that depend on their neighbors.
		b64([]byte(w)), b64([]byte("a" + w))[2 : 2+len(w)], b64([]byte("ab" + w))[3 : 3+len(w)],
		b64([]byte(wide)), b64([]byte("a" + wide))[2 : 2+len(wide)], b64([]byte("ab" + wide))[3 : 3+len(wide)],
	}
}

// model generates the description of the trace, a process, threads, and types and threads that no event uses.
func (t *Trace) model() {
	attrs := func(place string) ntconv.Attrs {
		return ntconv.Attrs{
			{Key: "host.name", Value: t.Text("", place)}, {Key: "ProcessId", Value: t.Text("", place)},
			{Key: "comment", Value: t.Text("", place)}, {Key: "pprof.comment.0", Value: t.Text("", place)},
			{Key: "pprof.drop_frames", Value: `^` + t.Word("", place) + `\.(Run|` + t.Word("", place) + `)$`},
			{Key: "pprof.keep_frames", Value: t.Word("", place)},
		}
	}
	t.Info = &ntconv.Info{Format: "generated", PointerSize: 8, Clock: ntconv.Clock{Freq: 1e9, Tick: 1000}, Attrs: attrs("trace")}
	p := &ntconv.Process{
		PID: 7, Host: t.Text("", "host"), Name: t.Text("", "process"), PointerSize: 8, Attrs: attrs("process"),
		Mappings: []*ntconv.Mapping{{Start: 0x1000, Limit: 0x2000, File: "/" + t.Word("", "mapping") + "/" + t.Word("", "mapping file") + ".so"}},
	}
	// The program of a process gives its name to the process and to a mapping.
	program := t.Word("", "program")
	p.Name += " " + program
	for _, file := range []string{program, "/opt/" + program, "/opt/" + program + " (deleted)", "/opt/Shop." + program, `C:\` + program + ".exe"} {
		p.Mappings = append(p.Mappings, &ntconv.Mapping{Start: 0x3000, Limit: 0x4000, File: file})
	}
	thread := &ntconv.Thread{TID: 8, Name: t.Text("", "thread"), Process: p, Attrs: attrs("thread")}
	unused := &ntconv.Thread{TID: 9, Name: t.Text("", "unused thread"), Process: p}
	typ := &ntconv.Type{
		Provider: "Shop-Unused", ID: 1, Name: "Unused", Message: t.Text("", "message"), Description: t.Text("", "description"),
		Attrs: attrs("type"), Fields: []ntconv.Field{{Name: "a", Type: ntconv.FieldType{Code: ntconv.TypeInt8}}},
	}
	stack := &ntconv.Stack{PCs: []uint64{0x1010}, Frames: []ntconv.Frame{{
		PC: 0x1010, Mapping: p.Mappings[0], Line: 3,
		Func: &ntconv.Function{Name: t.Text("", "function"), SystemName: t.Text("", "function"), File: t.Text("", "source")},
	}}}
	labels := ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelString, Key: "tenant", Str: t.Text("", "label")},
		{Kind: ntconv.LabelString, Key: "http.request.method", Str: t.Text("", "label")},
		{Kind: ntconv.LabelInt, Key: "bytes", Num: 5, Unit: "bytes"},
	})
	for _, e := range []*ntconv.Event{
		{Kind: ntconv.KindDefine, Type: typ}, {Kind: ntconv.KindDefine, Thread: unused},
		{
			Kind: ntconv.KindEvent, Seq: 1, Time: 1000, Type: &ntconv.Type{Provider: clr.SampleProfiler, ID: 0},
			Thread: thread, Capture: thread, Stack: stack, Labels: labels, Payload: []byte{2, 0, 0, 0},
		},
	} {
		e.CPU, e.Offset = ntconv.CPUUnknown, -1
		t.Events = append(t.Events, e)
	}
	t.seq = 1
}

// event appends an event with a payload on the thread of the first event.
func (t *Trace) event(typ *ntconv.Type, payload []byte) {
	first := t.Events[2]
	t.seq++
	t.Events = append(t.Events, &ntconv.Event{
		Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Offset: -1, Seq: t.seq, Time: 1000 + ntconv.Ticks(t.seq),
		Type: typ, Thread: first.Thread, Capture: first.Thread, Labels: first.Labels, Payload: payload,
	})
}
