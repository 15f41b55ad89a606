package record_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/sample"
)

// Kinds ask for the events of the kind and for those that name methods, and for nothing else.
func TestKinds(t *testing.T) {
	names := []uint32{141, 142, 143, 144, 151, 152, 153}
	for _, c := range []struct {
		kinds    []sample.Kind
		runtime  string
		provider string
		keywords uint64
		level    uint8
		events   []uint32
	}{
		{[]sample.Kind{sample.Contention}, "10.0.1", "Microsoft-Windows-DotNETRuntime", 0x4018, 4, []uint32{81, 91}},
		{[]sample.Kind{sample.Alloc}, "10.0.1", "Microsoft-Windows-DotNETRuntime", 0x80000000018, 4, []uint32{303}},
		{[]sample.Kind{sample.Alloc}, "8.0.4", "Microsoft-Windows-DotNETRuntime", 0x19, 5, []uint32{10}},
		{[]sample.Kind{sample.GC, sample.Contention}, "", "Microsoft-Windows-DotNETRuntime", 0x4019, 4, []uint32{1, 2, 3, 7, 8, 9, 35, 81, 91}},
		{[]sample.Kind{sample.Wall}, "", "Microsoft-DotNETCore-SampleProfiler", 0, 4, nil},
		{[]sample.Kind{sample.Tasks}, "", "System.Threading.Tasks.TplEventSource", 0x43, 4, nil},
	} {
		r := new(record.Request)
		if err := r.Kinds(c.kinds, c.runtime); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Providers, func(p diagnostics.Provider) bool { return p.Name == c.provider })
		if i < 0 {
			t.Errorf("%v: no provider %s in %v", c.kinds, c.provider, r)
			continue
		}
		want := slices.Clone(c.events)
		if c.events != nil {
			want = append(want, names...)
			slices.Sort(want)
		}
		if p := r.Providers[i]; p.Keywords != c.keywords || p.Level != c.level || !slices.Equal(p.Events, want) {
			t.Errorf("%v %s: got %#x:%d %v, want %#x:%d %v", c.kinds, c.runtime, p.Keywords, p.Level, p.Events, c.keywords, c.level, want)
		}
	}
}

// What only a recording of the whole machine has is refused, with what can be recorded.
func TestUnrecordableKinds(t *testing.T) {
	for _, k := range sample.All() {
		err := new(record.Request).Kinds([]sample.Kind{k}, "")
		if (err == nil) != record.Recordable(k) || err != nil && (!errors.Is(err, record.ErrRequest) || !strings.Contains(err.Error(), "alloc, ")) {
			t.Errorf("%v: %v", k, err)
		}
	}
	if got := strings.Join(record.KindNames(), " "); got != "wall alloc exceptions contention wait gc jit typeload threadpool tasks requests" {
		t.Error(got)
	}
}
