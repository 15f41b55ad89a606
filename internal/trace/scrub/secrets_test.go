package scrub_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/members"
	"github.com/ntconv/ntconv/internal/testing/secretgen"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
)

// scrubbed returns what the members of the events of a trace contain after a Scrubber.
func scrubbed(t *testing.T, tr *secretgen.Trace, o scrub.Options) []byte {
	t.Helper()
	s, err := scrub.New(o)
	if err != nil {
		t.Fatal(err)
	}
	src := s.Source(ntconvtest.Poison(ntconvtest.NewSource(tr.Info, tr.Events...)))
	events, err := ntconvtest.Record(src)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != len(tr.Events) {
		t.Fatalf("%d events, want %d", len(events), len(tr.Events))
	}
	var all bytes.Buffer
	for i, e := range events {
		if len(e.Payload) != len(tr.Events[i].Payload) {
			t.Fatalf("event %d has %d bytes, want %d", i, len(e.Payload), len(tr.Events[i].Payload))
		}
		all.Write(e.Payload)
		all.WriteByte('\n')
	}
	for _, m := range members.Of(&ntconvtest.Trace{Info: src.Info(), Events: events}) {
		if m.Value.Kind() == reflect.String {
			all.WriteString(m.Value.String())
			all.WriteByte('\n')
		}
	}
	return all.Bytes()
}

// No text of any layout, label, attribute, stack or block survives under a policy that keeps no names; under the
// default policy the only ones are those of fields whose class keeps them.
func TestPlantedSecrets(t *testing.T) {
	p, err := scrub.NewPolicy([]string{"strict"}, []string{secretgen.Strict(scrub.DefaultPolicy)})
	if err != nil {
		t.Fatal(err)
	}
	tr := secretgen.New(secretgen.Keys(scrub.DefaultPolicy))
	if len(tr.Secrets) < 1500 {
		t.Fatalf("%d secrets, which are too few for all layouts", len(tr.Secrets))
	}
	all := scrubbed(t, tr, scrub.Options{Policy: p})
	kept := scrubbed(t, tr, scrub.Options{})
	hashed := scrubbed(t, tr, scrub.Options{HashMethods: true})
	found := 0
	for _, s := range tr.Secrets {
		for _, needle := range s.Needles() {
			if bytes.Contains(all, []byte(needle)) {
				t.Errorf("%s/%s: %q is in the scrubbed trace", s.Provider, s.Path, needle)
			}
			if bytes.Contains(kept, []byte(needle)) {
				if found++; !scrub.Keeps(s.Provider, s.Path, false) {
					t.Errorf("%s/%s: %q is in the trace scrubbed by the default policy", s.Provider, s.Path, needle)
				}
			}
			if bytes.Contains(hashed, []byte(needle)) && !scrub.Keeps(s.Provider, s.Path, true) {
				t.Errorf("%s/%s: %q is in the trace with hashed names of methods", s.Provider, s.Path, needle)
			}
		}
	}
	if found == 0 {
		t.Error("the default policy keeps no name of a method")
	}
}
