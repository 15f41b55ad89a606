package record_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/run/record"
)

func TestParseProviders(t *testing.T) {
	const all = ^uint64(0)
	for text, want := range map[string][]diagnostics.Provider{
		"A":              {{Name: "A", Keywords: all, Level: 4}},
		"A:8003:5":       {{Name: "A", Keywords: 0x8003, Level: 5}},
		"A:0x8003:Error": {{Name: "A", Keywords: 0x8003, Level: 2}},
		"A::verbose,B:0": {{Name: "A", Keywords: all, Level: 5}, {Name: "B", Keywords: 0, Level: 4}},
		`A:1:5:X="a,b:c";Y=2,B:2:3`: {
			{Name: "A", Keywords: 1, Level: 5, Arguments: `X="a,b:c";Y=2`}, {Name: "B", Keywords: 2, Level: 3},
		},
		"System.Diagnostics.Metrics:2:4:Metrics=System.Runtime,My.Meter;RefreshInterval=1": {
			{Name: "System.Diagnostics.Metrics", Keywords: 2, Level: 4, Arguments: "Metrics=System.Runtime,My.Meter;RefreshInterval=1"},
		},
	} {
		got, err := record.ParseProviders(text)
		if err != nil || !slices.EqualFunc(got, want, equalProviders) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":           "provider 1",
		"A,":         "provider 2",
		"A:xyz":      `keywords "xyz"`,
		"A:1:6":      `level "6"`,
		"A:1:loud":   `level "loud"`,
		`A:1:4:X="a`: "quotation mark",
		":1:4":       "want a name",
	} {
		if _, err := record.ParseProviders(text); !errors.Is(err, record.ErrRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func equalProviders(a, b diagnostics.Provider) bool {
	return a.Name == b.Name && a.Keywords == b.Keywords && a.Level == b.Level && a.Arguments == b.Arguments && slices.Equal(a.Events, b.Events)
}

// Parsing what a request prints gives the request.
func FuzzParseProviders(f *testing.F) {
	for _, text := range []string{"A:1:4", `A:1:5:X="a,b";Y=2,B:2:3`, "A,B::verbose", "A:ffffffffffffffff:0:k=v,w", ":::", `"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := record.ParseProviders(text)
		if err != nil {
			return
		}
		r := record.Request{Providers: list}
		again, err := record.ParseProviders(r.String())
		if err != nil || !slices.EqualFunc(again, list, equalProviders) {
			t.Errorf("%q: %q: got %+v, %v, want %+v", text, r.String(), again, err, list)
		}
	})
}

// A provider that is asked for twice is in the session once: .NET writes nothing for it otherwise.
func TestAddMerges(t *testing.T) {
	r := new(record.Request)
	r.Add(diagnostics.Provider{Name: "A", Keywords: 1, Level: 4, Events: []uint32{5}, Arguments: `FilterAndPayloadSpecs="x"`})
	r.Add(diagnostics.Provider{Name: "A", Keywords: 6, Level: 2, Events: []uint32{3, 5}, Arguments: `FilterAndPayloadSpecs="y";K=V`})
	r.Add(diagnostics.Provider{Name: "B", Level: 1, Events: []uint32{1}})
	r.Add(diagnostics.Provider{Name: "B", Level: 1})
	want := []diagnostics.Provider{
		{Name: "A", Keywords: 7, Level: 4, Events: []uint32{3, 5}, Arguments: "FilterAndPayloadSpecs=\"x\ny\";K=V"},
		{Name: "B", Level: 1},
	}
	if !slices.EqualFunc(r.Providers, want, equalProviders) {
		t.Errorf("got %+v", r.Providers)
	}
}

// The profiles of dotnet-trace have its names, keywords and levels.
func TestProfiles(t *testing.T) {
	const runtime = "Microsoft-Windows-DotNETRuntime"
	for name, want := range map[string]string{
		"dotnet-common":              runtime + ":0x100003801d:4",
		"dotnet-sampled-thread-time": "Microsoft-DotNETCore-SampleProfiler:0x0:4",
		"cpu-sampling":               runtime + ":0x100003801d:4,Microsoft-DotNETCore-SampleProfiler:0x0:4",
		"gc-verbose":                 runtime + ":0x8003:5",
		"gc-collect":                 runtime + ":0x1:4,Microsoft-Windows-DotNETRuntimePrivate:0x1:4",
	} {
		r := new(record.Request)
		if err := r.Profile(name); err != nil || r.String() != want {
			t.Errorf("%s: %v, got %s, want %s", name, err, r, want)
		}
		if rundown := uint64(record.DefaultRundown); (name == "gc-collect") == (r.Rundown == rundown) {
			t.Errorf("%s: rundown %#x", name, r.Rundown)
		}
	}
	err := new(record.Request).Profile("cpu")
	if !errors.Is(err, record.ErrRequest) || !strings.Contains(err.Error(), "dotnet-common") {
		t.Error(err)
	}
}
