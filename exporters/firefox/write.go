package firefox

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Format versions of raw and of processed profiles. The raw version only has to be recent. Perfetto does not read
// processed profiles of version 66 and later; the Firefox Profiler upgrades all versions.
const (
	rawVersion       = 31
	processedVersion = 57
)

// write converts the items of the trace and writes the file.
func (s *Sink) write(t timeline.Trace) error {
	e := newEncoder(t, &spool.Options{Dir: s.o.TempDir, Max: s.o.MaxTemp}, s.args, &s.measures)
	err := t.Each(e.item)
	if err == nil {
		err = s.file(e)
	}
	return errors.Join(err, e.set.Close())
}

// file writes the file. All columns must be complete.
func (s *Sink) file(e *encoder) error {
	e.addProcesses()
	threads := slices.SortedFunc(maps.Values(e.threads), func(a, b *thread) int { return cmp.Compare(a.number, b.number) })
	w := jsoncolumns.NewWriter(s.w)
	s.writeMeta(w, e, threads)
	w.Text(",\"libs\":[],\n\"threads\":[")
	first := make(map[*timeline.Process]int)
	for i, h := range threads {
		if i > 0 {
			w.Text(",")
		}
		w.Text("\n")
		h.write(w)
		if _, ok := first[h.track.Process]; !ok {
			first[h.track.Process] = i
		}
	}
	w.Text("],\n\"counters\":[")
	counters := slices.SortedFunc(maps.Values(e.counters), func(a, b *counter) int {
		return cmp.Compare(e.order.Of(a.track), e.order.Of(b.track))
	})
	for i, c := range counters {
		if i > 0 {
			w.Text(",\n")
		}
		c.write(w, first[c.track.Process])
	}
	w.Text("],\n\"shared\":{\"stringArray\":")
	e.strings.write(w)
	w.Text("}}\n")
	if err := w.Flush(); err != nil {
		return err
	}
	s.report(e, uint64(w.Replaced))
	s.done = Summary{Counts: e.trace.Counts(), Threads: len(threads), Schemas: len(e.schemaList)}
	return nil
}

// report reports what the file cannot represent. replaced is the number of strings that the writer repaired.
func (s *Sink) report(e *encoder, replaced uint64) {
	r := s.o.Report
	r.Note(ntconv.CodeNotCarried, replaced+s.args.replaced, -1,
		"strings that are not valid Unicode; invalid parts became U+FFFD")
	r.Note(ntconv.CodeNotCarried, s.args.dropped, -1,
		"fields of events dropped, because the trace has too many different field names")
	r.Note(ntconv.CodeNotCarried, e.notNumbers, -1, "counter values that are not finite numbers")
}

// addProcesses adds to each process the thread that shows it. A trace without threads gets one, because a profile needs
// a thread.
func (e *encoder) addProcesses() {
	for _, h := range slices.Collect(maps.Values(e.threads)) {
		e.addProcess(h.track)
	}
	for t := range e.counters {
		e.addProcess(t)
	}
	if len(e.threads) == 0 {
		e.thread(&timeline.Track{Kind: timeline.ProcessTrack, TID: 1}, nil)
	}
}

func (e *encoder) addProcess(t *timeline.Track) {
	if t.Process != nil && t.Process.Track != nil {
		e.thread(t.Process.Track, nil)
	}
}

// defaultInterval is the sampling interval in nanoseconds if the trace does not state one.
const defaultInterval = 1_000_000

// writeMeta writes the member meta, with the schemas of all markers. All columns must be complete.
func (s *Sink) writeMeta(w *jsoncolumns.Writer, e *encoder, threads []*thread) {
	interval := int64(defaultInterval)
	if text, ok := s.info.Attrs.Get("ExpectedCPUSamplingRate"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			interval = n
		}
	}
	millis := func(name string, nanos int64) { w.Text(`,"` + name + `":` + string(appendMillis(nil, nanos))) }
	w.Text(`{"meta":{"interval":` + string(appendMillis(nil, interval)))
	millis("startTime", max(e.trace.Start().UnixNano(), 0))
	millis("profilingStartTime", 0)
	millis("profilingEndTime", e.trace.End())
	w.Text(`,"processType":0,"product":`)
	w.String(cmp.Or(s.o.Name, ".NET"))
	w.Text(`,"importedFrom":`)
	w.String(strings.TrimSpace("ntconv " + s.o.Version))
	w.Text(`,"stackwalk":1,"version":` + strconv.Itoa(rawVersion) + `,"preprocessedProfileVersion":` +
		strconv.Itoa(processedVersion) + `,"symbolicated":true,"symbolicationNotSupported":true,"usesOnlyOneStackType":true`)
	w.Text(`,"sourceCodeIsNotOnSearchfox":true,"keepProfileThreadOrder":true,"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"}`)
	if n, ok := s.info.Attrs.Get("HardwareThreadCount"); ok && number(n) {
		w.Text(`,"logicalCPUs":` + n)
	}
	writeIndices(w, "initialVisibleThreads", visible(threads))
	writeIndices(w, "initialSelectedThreads", []int{busiest(threads)})
	s.writeExtra(w, threads)
	w.Text(`,"categories":[`)
	for i, c := range categories {
		if i > 0 {
			w.Text(",")
		}
		w.Text(`{"name":"` + c.name + `","color":"` + c.color + `","subcategories":["Other"]}`)
	}
	w.Text("],\n\"markerSchema\":[")
	for i, m := range e.schemaList {
		if i > 0 {
			w.Text(",\n")
		}
		m.write(w, e.args)
	}
	w.Text("]}")
}

// number reports whether s is an unsigned integer that JSON can contain.
func number(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil && (len(s) == 1 || s[0] != '0')
}

// writeExtra writes what the panel "Profile Info" shows.
func (s *Sink) writeExtra(w *jsoncolumns.Writer, threads []*thread) {
	w.Text(`,"extra":[{"label":"Trace","entries":[{"label":"Format","format":"string","value":`)
	w.String(s.info.Format)
	w.Text("}")
	for _, h := range threads {
		if p := h.track.Process; h.isProcess() && p != nil && p.Command != "" {
			w.Text(`,{"label":`)
			w.String("Command of process " + pidOf(h.track))
			w.Text(`,"format":"string","value":`)
			w.String(p.Command)
			w.Text("}")
		}
	}
	w.Text("]}]")
}

func writeIndices(w *jsoncolumns.Writer, name string, list []int) {
	w.Text(`,"` + name + `":[`)
	for i, n := range list {
		if i > 0 {
			w.Text(",")
		}
		w.Int(int64(n))
	}
	w.Text("]")
}

// maxVisible limits the threads that are visible at first: a viewer with hundreds of visible threads is slow.
const maxVisible = 30

// visible returns the indexes of the threads with the most work, and those of their processes.
func visible(threads []*thread) []int {
	order, process := make([]int, len(threads)), make(map[*timeline.Process]int)
	for i, h := range threads {
		order[i] = i
		if h.isProcess() {
			process[h.track.Process] = i
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareWork(threads[i], threads[j]) })
	chosen := make(map[int]bool)
	for _, i := range order {
		if len(chosen) >= maxVisible {
			break
		}
		chosen[i] = true
		if p, ok := process[threads[i].track.Process]; ok {
			chosen[p] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen))
}

// compareWork returns a negative number if a did more work than b.
func compareWork(a, b *thread) int {
	return cmp.Or(cmp.Compare(b.busy, a.busy), cmp.Compare(b.columns[sampleTime].Len, a.columns[sampleTime].Len),
		cmp.Compare(b.columns[markerName].Len, a.columns[markerName].Len))
}

// busiest returns the index of the thread with the most work.
func busiest(threads []*thread) int {
	best := 0
	for i, h := range threads {
		if compareWork(h, threads[best]) < 0 {
			best = i
		}
	}
	return best
}
