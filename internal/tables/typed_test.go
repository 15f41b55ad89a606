package tables

import (
	"regexp"
	"strings"
	"testing"
)

func TestTypedName(t *testing.T) {
	for _, c := range []struct{ provider, event, want string }{
		{"Microsoft-Windows-DotNETRuntime", "GCAllocationTick", "event_clr_GCAllocationTick"},
		{"Microsoft-DotNETCore-SampleProfiler", "ThreadSample", "event_sampler_ThreadSample"},
		{"System.Threading.Tasks.TplEventSource", "TaskScheduled", "event_tpl_TaskScheduled"},
		{"My.Company-Source", "Order/Placed (new)", "event_My_Company_Source_Order_Placed_new"},
		{"My.Company-Source", "17", "event_My_Company_Source_17"},
		{"", "событие", "event_unnamed_unnamed"},
		{"../../etc", "__x__", "event_etc_x"},
	} {
		if got := TypedName(c.provider, c.event); got != c.want {
			t.Errorf("TypedName(%q, %q) = %q, want %q", c.provider, c.event, got, c.want)
		}
	}
}

// The typed table of any provider and event has a name that file systems and SQL accept without quotes.
func FuzzTypedName(f *testing.F) {
	f.Add("System.Net.Http", "RequestStart")
	f.Add(strings.Repeat("a.", 500), strings.Repeat("é", 500))
	valid := regexp.MustCompile(`^event_[A-Za-z0-9][A-Za-z0-9_]*$`)
	f.Fuzz(func(t *testing.T, provider, event string) {
		name := TypedName(provider, event)
		if !valid.MatchString(name) || len(name) > 220 || strings.HasSuffix(name, "_") {
			t.Errorf("TypedName(%q, %q) = %q", provider, event, name)
		}
	})
}

// Slugs of well-known providers differ, even if case is ignored.
func TestProviderSlugs(t *testing.T) {
	var names Names
	for provider, slug := range ProviderSlugs() {
		if slug != slugOf(slug) {
			t.Errorf("%s: slug %q has other characters", provider, slug)
		}
		if got := names.Add(slug); got != slug {
			t.Errorf("%s: slug %q is taken", provider, slug)
		}
	}
}

func TestNames(t *testing.T) {
	var names Names
	want := []string{"pid", "PID_2", "Pid_3", "pid_2_2", "x"}
	for i, name := range []string{"pid", "PID", "Pid", "pid_2", "x"} {
		if got := names.Add(name); got != want[i] {
			t.Errorf("name %d: got %q, want %q", i, got, want[i])
		}
	}
}
