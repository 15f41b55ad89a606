// Package viewer hands a file to a web application that shows traces: it serves the file on this machine, to pages of
// that application alone.
package viewer

import "net/url"

// A Viewer is a web application that can fetch a trace from an address in its own address.
type Viewer struct {
	Name   string // in flags
	Title  string // in sentences
	Format string // what it is given, by the name of the format
	// Origin is the origin of its pages, in the form of the header Origin.
	Origin string
	// Port is the only port of this machine to which its pages may connect, 0 if that is any.
	Port int
	// before comes before the escaped address of the file.
	before string
}

// Address returns the address of the viewer that makes it fetch and show a file.
func (v *Viewer) Address(file string) string { return v.before + url.QueryEscape(file) }

// All returns the viewers that are known.
func All() []Viewer {
	return []Viewer{
		{
			// The Content-Security-Policy of the page (ui/src/frontend/index.ts) permits this port of 127.0.0.1, which
			// is that of trace_processor_shell, and no other. Perfetto's own tools/open_trace_in_ui uses it for the
			// same reason.
			Name: "perfetto", Title: "Perfetto", Format: "perfetto", Origin: "https://ui.perfetto.dev", Port: 9001,
			before: "https://ui.perfetto.dev/#!/?url=",
		},
		{
			// docs-developer/loading-in-profiles.md of the Firefox Profiler.
			Name: "firefox", Title: "Firefox Profiler", Format: "firefox", Origin: "https://profiler.firefox.com",
			before: "https://profiler.firefox.com/from-url/",
		},
		{
			// "Importing via URL" in the README of speedscope.
			Name: "speedscope", Title: "speedscope", Format: "speedscope", Origin: "https://www.speedscope.app",
			before: "https://www.speedscope.app/#profileURL=",
		},
	}
}

// ByName returns the viewer with a name, nil if there is none.
func ByName(name string) *Viewer {
	for _, v := range All() {
		if v.Name == name {
			return &v
		}
	}
	return nil
}

// Names returns the names of all viewers.
func Names() []string {
	var names []string
	for _, v := range All() {
		names = append(names, v.Name)
	}
	return names
}
