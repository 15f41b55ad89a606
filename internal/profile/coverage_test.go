package profile_test

import (
	"errors"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// withoutProfile are the traces without a profile, and why.
var withoutProfile = map[string]string{
	"empty": "its only event describes the process",
}

// Every trace has a profile without a requested kind, unless it has no event that occurred in the program. Each kind that
// it lists has a profile, too.
func TestEveryTraceHasAProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: this reads all traces")
	}
	byKind := map[sample.Kind]int{}
	for _, f := range corpus.SharedTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			p := profileOfFile(t, f, sample.Auto)
			if p == nil {
				return
			}
			reason, isKnown := withoutProfile[f.Name]
			switch {
			case p.Events == 0 && !isKnown:
				t.Error("no profile")
			case p.Events > 0 && isKnown:
				t.Errorf("a %v profile of %d events, although %s", p.Kind, p.Events, reason)
			}
			byKind[p.Kind]++
			for _, other := range p.Others {
				q := profileOfFile(t, f, other.Kind)
				if q.Events > other.N && q.Kind != sample.Events { // on request, it also has those that describe
					t.Errorf("%d %v samples, want at most the %d that are listed", q.Events, q.Kind, other.N)
				}
			}
		})
	}
	t.Logf("traces by best kind: %v", byKind)
}

// profileOfFile returns the profile of a kind, or nil if the reader does not support the trace.
func profileOfFile(t *testing.T, f corpus.File, k sample.Kind) *profile.Profile {
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.FileOrder, AllowPrerelease: true})
	if errors.Is(err, ntconv.ErrUnsupported) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	b := profile.New(src.Info(), nil, &profile.Options{Kind: k})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		b.Add(e)
	}
	return b.Finish()
}
