package scrub

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// Errors of a policy name the file and the line, also those that need the whole policy.
func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"class nope keep", `class "nope"`},
		{"class hots keep", `similar: host`},
		{"field A/B.C nope", `no class "nope"`},
		{"key attribute k nope", `no class "nope"`},
		{"key argumnet k text", `similar: argument`},
		{"class region", `class with 2 words`},
	} {
		_, err := NewPolicy([]string{"own.txt"}, []string{"# first\n" + c.line + "\n"})
		if !errors.Is(err, ErrPolicy) || !strings.Contains(err.Error(), "own.txt: line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s at line 2", c.line, err, c.want)
		}
	}
	if _, err := NewPolicy([]string{"own"}, []string{"class region one-of\nkey attribute cloud.region region\n"}); err != nil {
		t.Error(err)
	}
}

// Similar fields are those that differ in few letters from a pattern, in each of their parts.
func TestSimilarFields(t *testing.T) {
	n := newNames(true)
	for _, f := range []string{"Universal.System/ProcessSymbol.Name", "Universal.System/ProcessMapping.FileName", "Shop/Placed.Customer"} {
		provider, path, _ := strings.Cut(f, "/")
		n.providers[provider] = true
		n.addField(provider, path)
	}
	for pattern, want := range map[string][]string{
		"*/ProcessSymbol.Nmae": {"Universal.System/ProcessSymbol.Name"},
		"Shpo/Placed.Customer": {"Shop/Placed.Customer"},
		"Nope/Nope.Nope":       nil,
		"Universal.Sytem":      {"Universal.System"},
	} {
		if got := n.near(&rule{text: pattern}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// Names of mappings without a file stay with all options, because readers recognize them by their text. So does a label
// that profiles omit, and only this label.
func TestRecognizedTexts(t *testing.T) {
	s, err := New(Options{HashMethods: true, HashIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	module := s.policy.class(classModule)
	for _, name := range []string{
		"[heap]", "[vdso]", "[stack]", "[vsyscall]", "[kernel.kallsyms]", "//anon", "/memfd:doublemapper",
		"/memfd:doublemapper (deleted)", "vmlinux",
	} {
		if got := s.words.string(name, module); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	for _, secret := range []string{"/opt/secret/secret.so", "[anon:secret]", "/memfd:secret (deleted)", "[secret]"} {
		if got := s.words.string(secret, module); strings.Contains(got, "secret") || len(got) != len(secret) {
			t.Errorf("%s became %s", secret, got)
		}
	}
	m := newModel(s.words, s.tally)
	for _, c := range []struct {
		label ntconv.Label
		same  bool
	}{
		{placeholderLabel, true},
		{ntconv.Label{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual secrets"}, false},
		{ntconv.Label{Kind: ntconv.LabelString, Key: "Errors", Str: "Expected actual values"}, false},
	} {
		if got := m.createLabels(ntconv.NewLabels([]ntconv.Label{c.label})).List()[0]; (got == c.label) != c.same {
			t.Errorf("%v became %v", c.label, got)
		}
	}
}

// The bytes of a socket address remain bytes.
func TestSocketAddress(t *testing.T) {
	for key := range byte(50) {
		s, err := New(Options{Key: []byte{key, 15: 1}})
		if err != nil {
			t.Fatal(err)
		}
		in := "InterNetwork:16:{20,79,127,255,100,0,199}"
		out := s.words.string(in, s.policy.class(classAddress))
		octets := strings.Split(strings.TrimSuffix(out[strings.IndexByte(out, '{')+1:], "}"), ",")
		if len(out) != len(in) || len(octets) != 7 || strings.Contains(out, "127") && strings.Contains(out, "199") {
			t.Fatal(out)
		}
		for _, o := range octets {
			if len(o) == 3 && o > "255" {
				t.Errorf("%s became %s", in, out)
			}
		}
	}
}
