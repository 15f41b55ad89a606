package laws_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/members"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A change of any member that an event refers to changes its hash.
func TestHash(t *testing.T) {
	hashes := func(tr *ntconvtest.Trace) (list []uint64) {
		for _, e := range tr.Events {
			list = append(list, laws.Hash(e))
		}
		return list
	}
	tested := 0
	for i, m := range members.Of(members.Trace()) {
		switch {
		case m.IsStruct() || strings.HasPrefix(m.Path, "Info"):
			continue
		case m.Name == "Type.layout" || strings.HasPrefix(m.Name, "Labels.") && m.Name != "Labels.list":
			continue // computed from other members
		case m.Value.Kind() == reflect.Pointer && m.Value.IsNil():
			continue // a stack or label list may be missing or empty
		}
		tested++
		changed := members.Trace()
		members.Change(members.Of(changed)[i])
		if slices.Equal(hashes(changed), hashes(members.Trace())) {
			t.Errorf("%s (%s): a change does not change the hash", m.Path, m.Name)
		}
	}
	if tested < 100 {
		t.Errorf("only %d members", tested)
	}
}
