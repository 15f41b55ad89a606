package web

import "net/url"

// A Viewer is a web application that can fetch a trace from an address in its own address.
type Viewer struct {
	Name   string // in flags
	Title  string // name in messages
	Format string // name of the format that it reads
	// Origin is the origin of its pages, as in the HTTP header Origin.
	Origin string
	// Port is the only TCP port of this machine to which its pages may connect; 0 means any port.
	Port int
	// before is the part of its address that precedes the escaped address of the file.
	before string
}

// Address returns the address at which the application fetches the file from the address file and shows it.
func (v *Viewer) Address(file string) string { return v.before + url.QueryEscape(file) }

// Viewers returns a new list of the supported viewers.
func Viewers() []Viewer {
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

// ViewerByName returns a copy of the viewer with the given Name, or nil if there is none.
func ViewerByName(name string) *Viewer {
	for _, v := range Viewers() {
		if v.Name == name {
			return &v
		}
	}
	return nil
}

// ViewerNames returns the names of all viewers, in the order of All.
func ViewerNames() []string {
	var names []string
	for _, v := range Viewers() {
		names = append(names, v.Name)
	}
	return names
}
