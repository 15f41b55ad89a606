package profile

import (
	"fmt"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/kind"
)

// A Reason is the reason why a frame is unresolved.
type Reason uint8

const (
	// NoModule means that the address is outside all modules that the trace describes.
	NoModule Reason = iota
	// NoMethod means managed code that no method event of the trace describes.
	NoMethod
	// NoSymbol means native code whose module has no symbols in the trace.
	NoSymbol
	// NoKernelSymbol means code of the operating system's kernel, which has no symbols in the trace.
	NoKernelSymbol
	numReasons
)

var reasonTexts = [numReasons]string{
	"address outside all known modules", "managed code without a method event", "native module without symbols",
	"kernel without symbols",
}

// Unresolved states how much of a profile has no symbol. A frame counts once per event with it.
type Unresolved struct {
	Samples int64 // events that are samples
	Frames  int64
	Unnamed int64             // of Frames: unresolved
	Reasons [numReasons]int64 // of Unnamed
	Total   int64             // of the profile's main value
	Any     int64             // of Total: some frame is unresolved
	Leaf    int64             // of Total: the leaf is unresolved
	Module  string            // file with most of the unresolved frames, or empty
	Main    ValueType         // of Total
	Kind    kind.Kind         // of the profile
	Rundown bool              // the trace has the method events that .NET writes when a recording ends
}

// String returns the counts as a sentence, or "" if every frame is resolved.
func (u Unresolved) String() string {
	if u.Unnamed == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of frames are unresolved (%s): on the stack for %s of %s, leaf for %s",
		percent(u.Unnamed, u.Frames), u.why(), percent(u.Any, u.Total), u.mainValue(), percent(u.Leaf, u.Total))
	if u.Kind == kind.Wall && !u.Rundown && u.Reasons[NoModule]+u.Reasons[NoMethod] > u.Frames/10 {
		text += "; .NET writes symbols when a recording ends (rundown): " +
			"stop it with Enter or Ctrl+C and keep rundown enabled"
	}
	return text
}

// why returns the reasons with their shares, and the module with most unresolved frames.
func (u Unresolved) why() string {
	var list []string
	for r, n := range u.Reasons {
		switch {
		case n == u.Unnamed:
			list = append(list, reasonTexts[r])
		case n > 0:
			list = append(list, percent(n, u.Unnamed)+" "+reasonTexts[r])
		}
	}
	if u.Module != "" {
		list = append(list, "most in "+u.Module)
	}
	return strings.Join(list, ", ")
}

func percent(n, of int64) string {
	if of <= 0 || n <= 0 {
		return "0%"
	}
	if n <= of/2000 {
		return "under 0.1%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

func (u Unresolved) note(r *ntconv.Report) {
	r.Note(ntconv.CodeUnresolved, uint64(u.Unnamed), -1, u.String())
}

// names counts unresolved frames while samples are iterated.
type names struct {
	u       Unresolved
	modules map[*ntconv.Mapping]int64
}

// count adds the frames of a sample with the given number of events and main value.
func (n *names) count(frames []ntconv.Frame, events, value int64) {
	u := &n.u
	addTo(&u.Samples, events)
	addTo(&u.Frames, times(events, int64(len(frames))))
	addTo(&u.Total, value)
	found := false
	for i := range frames {
		f := &frames[i]
		if f.Flags&ntconv.FrameUnresolved == 0 {
			continue
		}
		found = true
		addTo(&u.Unnamed, events)
		addTo(&u.Reasons[reasonOf(f)], events)
		if f.Mapping != nil {
			if n.modules == nil {
				n.modules = map[*ntconv.Mapping]int64{}
			}
			n.modules[f.Mapping] += events
		}
		if i == 0 {
			addTo(&u.Leaf, value)
		}
	}
	if found {
		addTo(&u.Any, value)
	}
}

func reasonOf(f *ntconv.Frame) Reason {
	switch {
	case f.Flags&ntconv.FrameKernel != 0:
		return NoKernelSymbol
	case f.Mapping == nil:
		return NoModule
	case f.Flags&ntconv.FrameManaged != 0:
		return NoMethod
	}
	switch strings.ToLower(path.Ext(baseName(f.Mapping.File))) {
	case ".dll", ".exe":
		return NoMethod
	}
	return NoSymbol
}

// unresolved returns the counts for p.
func (n *names) unresolved(p *Profile) Unresolved {
	byFile := map[string]int64{}
	for m, events := range n.modules {
		byFile[baseName(m.File)] += events
	}
	u := n.u
	var most int64
	for file, events := range byFile {
		if file != "" && (events > most || events == most && file < u.Module) {
			u.Module, most = file, events
		}
	}
	u.Kind, u.Main = p.Kind, p.MainType()
	u.Rundown = p.b.namer.HasRundown()
	return u
}

// mainValue describes the values that Total adds up, for example "wall time" or "samples".
func (u Unresolved) mainValue() string {
	if isTime(u.Main.Unit) {
		return u.Main.Type + " time"
	}
	return u.Main.Type
}

// isTime reports whether a unit of profile.proto is a unit of time.
func isTime(unit string) bool {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours":
		return true
	}
	return false
}

// baseName returns the last element of a path of any operating system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
