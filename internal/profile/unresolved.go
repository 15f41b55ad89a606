package profile

import (
	"fmt"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/sample"
)

// DescribeUnresolved returns the counts of unresolved frames as a sentence, or "" if every frame is resolved.
func DescribeUnresolved(s *sample.Summary) string {
	u := &s.Unresolved
	if u.Frames == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of frames are unresolved (%s): on the stack for %s of %s, leaf for %s",
		percent(u.Frames, s.Frames), why(u), percent(u.Passing, s.Total), mainValue(s.Main), percent(u.Leaf, s.Total))
	if s.Kind == sample.Wall && !u.Rundown && u.NoModule+u.NoMethod > s.Frames/10 {
		text += "; .NET writes symbols when a recording ends (rundown): " +
			"stop it with Enter or Ctrl+C and keep rundown enabled"
	}
	return text
}

// why returns the reasons with their shares, and the module with most unresolved frames.
func why(u *sample.Unresolved) string {
	var list []string
	for _, reason := range []struct {
		n    int64
		text string
	}{
		{u.NoModule, "address outside all known modules"}, {u.NoMethod, "managed code without a method event"},
		{u.NoSymbol, "native module without symbols"}, {u.NoKernelSymbol, "kernel without symbols"},
	} {
		switch {
		case reason.n == u.Frames:
			list = append(list, reason.text)
		case reason.n > 0:
			list = append(list, percent(reason.n, u.Frames)+" "+reason.text)
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

// names counts frames while samples are iterated.
type names struct {
	frames, total int64
	unresolved    sample.Unresolved
	modules       map[*ntconv.Mapping]int64
}

// count adds the frames of a sample with the given number of events and main value.
func (n *names) count(frames []ntconv.Frame, events, value int64) {
	u := &n.unresolved
	n.frames = bin.AddClamped(n.frames, bin.MulClamped(events, int64(len(frames))))
	n.total = bin.AddClamped(n.total, value)
	found := false
	for i := range frames {
		f := &frames[i]
		if f.Flags&ntconv.FrameUnresolved == 0 {
			continue
		}
		found = true
		u.Frames = bin.AddClamped(u.Frames, events)
		reason := reasonOf(u, f)
		*reason = bin.AddClamped(*reason, events)
		if f.Mapping != nil {
			if n.modules == nil {
				n.modules = map[*ntconv.Mapping]int64{}
			}
			n.modules[f.Mapping] += events
		}
		if i == 0 {
			u.Leaf = bin.AddClamped(u.Leaf, value)
		}
	}
	if found {
		u.Passing = bin.AddClamped(u.Passing, value)
	}
}

// reasonOf returns the count of the reason why a frame is unresolved.
func reasonOf(u *sample.Unresolved, f *ntconv.Frame) *int64 {
	switch {
	case f.Flags&ntconv.FrameKernel != 0:
		return &u.NoKernelSymbol
	case f.Mapping == nil:
		return &u.NoModule
	case f.Flags&ntconv.FrameManaged != 0:
		return &u.NoMethod
	}
	switch strings.ToLower(path.Ext(baseName(f.Mapping.File))) {
	case ".dll", ".exe":
		return &u.NoMethod
	}
	return &u.NoSymbol
}

// finish copies the counts to p.
func (n *names) finish(p *Profile) {
	byFile := map[string]int64{}
	for m, events := range n.modules {
		byFile[baseName(m.File)] += events
	}
	u := n.unresolved
	var most int64
	for file, events := range byFile {
		if file != "" && (events > most || events == most && file < u.Module) {
			u.Module, most = file, events
		}
	}
	u.Rundown = u.Frames > 0 && p.b.namer.HasRundown()
	p.Frames, p.Total, p.Unresolved = n.frames, n.total, u
}

// mainValue describes the values that Summary.Total adds up, for example "wall time" or "samples".
func mainValue(t sample.Type) string {
	if isTime(t.Unit) {
		return t.Type + " time"
	}
	return t.Type
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
