package speedscope

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

const schemaURL = "https://www.speedscope.app/file-format-schema.json"

// AllThreads is the first part of the name of a profile of all threads. The profiles of single threads contain the same
// samples again, so an importer must skip one or the other.
const AllThreads = "all threads"

// write converts the items of the trace and writes the file.
func (s *Sink) write(t timeline.Trace) error {
	e := newEncoder(t, &spool.Options{Dir: s.o.TempDir, Max: s.o.MaxTemp}, s.o.Report, &s.measures)
	err := t.Each(e.item)
	if err == nil {
		err = s.file(e)
	}
	return errors.Join(err, e.set.Close())
}

// file writes the file. All profiles must be complete.
func (s *Sink) file(e *encoder) error {
	sampled, active := e.sampledProfiles()
	evented := slices.SortedFunc(maps.Values(e.evented), func(a, b *eventedProfile) int {
		return cmp.Compare(e.order.Of(a.track), e.order.Of(b.track))
	})
	if len(sampled) == 0 {
		active = busiest(evented)
	}
	w := jsoncolumns.NewWriter(s.w)
	w.Text(`{"$schema":"` + schemaURL + `","exporter":`)
	w.String("ntconv@" + cmp.Or(s.o.Version, "dev"))
	if s.o.Name != "" {
		w.Text(`,"name":`)
		w.String(s.o.Name)
	}
	w.Text(`,"activeProfileIndex":`)
	w.Int(int64(active))
	w.Text(`,"shared":{"frames":`)
	e.frames.write(w)
	w.Text("},\n\"profiles\":[")
	open := "\n"
	for _, p := range sampled {
		w.Text(open)
		p.write(w)
		open = ",\n"
	}
	for _, p := range evented {
		w.Text(open)
		p.write(w, e.trace.End())
		open = ",\n"
	}
	w.Text("\n]}\n")
	if err := w.Flush(); err != nil {
		return err
	}
	s.o.Report.Note(ntconv.CodeNotCarried, uint64(e.negative), -1, "samples with a negative value, which speedscope rejects")
	s.o.Report.Note(ntconv.CodeNotCarried, uint64(w.Replaced), -1, "names that are not valid UTF-8; invalid parts became U+FFFD")
	s.done = Summary{Counts: e.trace.Counts(), Profiles: len(sampled) + len(evented), Frames: len(e.frames.list)}
	return nil
}

// sampledProfiles returns the profiles in output order, and the index of the thread with the most work. It omits the
// profile of all threads if there is only one thread.
func (e *encoder) sampledProfiles() (list []*sampledProfile, active int) {
	var busiest *sampledProfile
	for _, m := range e.measures {
		threads := slices.SortedFunc(maps.Values(m.threads), func(a, b *sampledProfile) int {
			return cmp.Compare(e.order.Of(a.track), e.order.Of(b.track))
		})
		if len(threads) > 1 {
			list = append(list, m.all)
		}
		for _, p := range threads {
			if busiest == nil ||
				m == busiest.measure && p.compare(&busiest.work) > 0 {
				busiest, active = p, len(list)
			}
			list = append(list, p)
		}
	}
	return list, active
}

// busiest returns the index of the profile with the most work, the first of equal ones.
func busiest(list []*eventedProfile) (best int) {
	for i, p := range list {
		if p.compare(&list[best].work) > 0 {
			best = i
		}
	}
	return best
}

func (p *sampledProfile) write(w *jsoncolumns.Writer) {
	name := AllThreads
	if p.track != nil {
		name = nameOf(p.track)
	}
	header(w, "sampled", name+": "+p.measure.name(), p.measure.unit, p.start, bin.AddClamped(p.start, p.total))
	w.Text(`,"samples":`)
	w.Column(p.samples)
	w.Text(`,"weights":`)
	w.Column(p.weights)
	w.Text("}")
}

func (p *eventedProfile) write(w *jsoncolumns.Writer, end int64) {
	header(w, "evented", nameOf(p.track)+": slices", "nanoseconds", 0, end)
	w.Text(`,"events":`)
	w.Column(p.events)
	w.Text("}")
}

func header(w *jsoncolumns.Writer, typ, name, unit string, start, end int64) {
	w.Text(`{"type":"` + typ + `","name":`)
	w.String(name)
	w.Text(`,"unit":"` + unit + `","startValue":`)
	w.Int(start)
	w.Text(`,"endValue":`)
	w.Int(end)
}

// name returns the name of a measure, with its unit if speedscope cannot show that.
func (m *measure) name() string {
	if m.Kind != sample.Imported || m.unit != "none" || m.Type.Unit == "count" || m.Type.Unit == "" {
		return m.Type.Type
	}
	return m.Type.Type + " (" + m.Type.Unit + ")"
}

// nameOf returns the name of a track, preceded by its process.
func nameOf(t *timeline.Track) string {
	name := t.Name
	if t.Kind == timeline.ThreadTrack && !t.Renumbered() {
		name = numbered(name, "thread", t.TID)
	}
	if t.Process == nil {
		return name
	}
	process := numbered(t.Process.Name, "process", t.Process.PID)
	if t.Kind == timeline.ProcessTrack || name == "" {
		return process
	}
	return process + " " + name
}

// numbered returns a name with its number, such as "shop (4711)". otherwise replaces a missing name.
func numbered(name, otherwise string, number uint32) string {
	n := strconv.FormatUint(uint64(number), 10)
	if name == "" || name == n {
		return otherwise + " " + n
	}
	return name + " (" + n + ")"
}
