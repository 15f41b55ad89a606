package clr

import (
	"testing"
)

func TestProviderGUID(t *testing.T) {
	for name, want := range map[string]string{
		"Universal.System":                                 "8c107b6c-79f8-5231-4de6-2a0e20a3f562",
		"Universal.Events":                                 "bc5e5d63-9799-5873-33d9-fba8316cef71",
		"Microsoft-DotNETCore-EventPipe":                   "92f528a6-f5b8-5160-a7ee-b33da7739e29",
		"System.Runtime":                                   "49592c0f-5a05-516d-aa4b-a64e02026c89",
		"Microsoft-Diagnostics-DiagnosticSource":           "adb401e1-5296-51f8-c125-5fda75826144",
		"System.Threading.Tasks.TplEventSource":            "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5",
		"Microsoft-Windows-DotNETRuntime":                  "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
		"Microsoft-Windows-DotNETRuntimePrivate":           "763fd754-7086-4dfe-95eb-c01a46faf4ca",
		"Microsoft-Windows-DotNETRuntimeRundown":           "a669021c-c450-4609-a035-5af59af4df18",
		"Microsoft-Windows-DotNETRuntimeStress":            "cc2bcbba-16b6-4cf3-8990-d74c2e8af500",
		"System.Diagnostics.Eventing.FrameworkEventSource": "8e9f5090-2d75-4d03-8a81-e5afbf85daf1",
		"Microsoft-DotNETCore-SampleProfiler":              "3c530d44-97ae-513a-1e6d-783e8f8e03a9",
		"*System.Runtime":                                  "49592c0f-5a05-516d-aa4b-a64e02026c89",
		"":                                                 "00000000-0000-0000-0000-000000000000",
		"*":                                                "00000000-0000-0000-0000-000000000000",
	} {
		if got := ProviderGUID(name).String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := hashGUID(SampleProfiler).String(); got != "84ad50b1-22f8-59cd-333e-718371a1925e" {
		t.Errorf("hash of the sampler's name: %s", got)
	}
	if hashGUID("ıſ") == hashGUID("IS") || hashGUID("éa") != hashGUID("ÉA") {
		t.Error("case mapping differs from that of .NET")
	}
}

// TestGUIDsOfTables checks the text files against the rule: only these providers have fixed IDs.
func TestGUIDsOfTables(t *testing.T) {
	own := map[string]bool{
		"Microsoft-Windows-DotNETRuntime": true, "Microsoft-Windows-DotNETRuntimeRundown": true, "Microsoft-Windows-DotNETRuntimePrivate": true,
		"Microsoft-Windows-DotNETRuntimeStress": true, "Microsoft-DotNETCore-SampleProfiler": true,
		"System.Threading.Tasks.TplEventSource": true, "System.Diagnostics.Eventing.FrameworkEventSource": true,
		"System.Linq.Parallel.PlinqEventSource": true, "System.Collections.Concurrent.ConcurrentCollectionsEventSource": true,
		dynamicEvents: true,
	}
	for _, p := range providers().list {
		if got := hashGUID(p.name).String(); (got != p.guid) != own[p.name] {
			t.Errorf("%s: %s, by the rule %s", p.name, p.guid, got)
		}
		if providerOf(p.name) != p {
			t.Errorf("there are two providers %s", p.name)
		}
	}
}

func TestIsRuntime(t *testing.T) {
	n := 0
	for _, p := range providers().list {
		if IsRuntime(p.name) {
			n++
		}
	}
	if n != 5 || !IsRuntime(Runtime) || !IsRuntime(SampleProfiler) || IsRuntime(EventPipe) || IsRuntime("Shop") {
		t.Errorf("%d providers of the runtime", n)
	}
}

func TestAppendKeywords(t *testing.T) {
	for _, c := range []struct {
		provider string
		keywords uint64
		want     string
	}{
		{Runtime, 0x8018, "LoaderKeyword|JitKeyword|ExceptionKeyword"},
		{Runtime, 0x800000, "GCHeapCollectKeyword"},
		{Runtime, 1 | 1<<63, "GCKeyword|0x8000000000000000"},
		{Runtime, 0, ""},
		{"System.Runtime", 0xf00000000001, "AppContext|Session3|Session2|Session1|Session0"},
		{"Shop", 0x12, "0x12"},
	} {
		if got := string(AppendKeywords([]byte("="), c.provider, c.keywords)); got != "="+c.want {
			t.Errorf("%s %#x: %s, want %s", c.provider, c.keywords, got, c.want)
		}
	}
}
