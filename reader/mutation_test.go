package reader

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/symbol"
)

var (
	mutations    = flag.Int("mutations", 2500, "how many damaged traces TestMutations reads")
	mutationSeed = flag.Uint64("mutation-seed", 1, "seed of the first one; the others follow")
	mutateShared = flag.Bool("mutate-shared", false, "damage the small traces and vectors beside the checkout, too; seeds mean others then")
)

// slow is the processor time that no small input may take: a hundred times what the slowest takes, and six times with the race
// detector. How busy the machine is decides nothing.
const slow = 2 * time.Second

// TestMutations reads damaged copies of real traces and holds the laws of every one: see laws.check.
func TestMutations(t *testing.T) {
	m := newMutator(t)
	l := newLaws()
	watch := newWatchdog(t)
	defer watch.stop()
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	profiles, longest := 0, time.Duration(0)
	for i := range *mutations {
		seed := *mutationSeed + uint64(i)
		data := m.mutant(seed)
		watch.begin(seed)
		begin := cpuTime()
		err := protect(func() error { return l.check(data) })
		took := cpuTime() - begin
		longest = max(longest, took)
		if err == nil && took > slow {
			err = fmt.Errorf("%d bytes took %v of processor time", len(data), took)
		}
		if err == nil && seed%4 == 0 {
			err = protect(func() error { return comparePlain(data) })
		}
		if err == nil && l.sound && seed%16 == 0 {
			profiles++
			err = protect(func() error { return profiled(data) })
		}
		if err != nil {
			t.Fatalf("%v\nreproduce: go test ./reader -run TestMutations -mutations 1 -mutation-seed %d -mutate-shared=%v (a mutant of %s)",
				err, seed, *mutateShared, m.name)
		}
	}
	t.Logf("%d mutants: %d read to the end, %d profiles; at most %d KiB allocated beyond 8 bytes a byte, %.1f times the input (of those above 32 KiB); longest %v",
		*mutations, l.sounds, profiles, l.worst>>10, l.worstRatio, longest)
}

// protect turns a panic into an error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// A watchdog ends the process, and names the input, when a read does not end at all.
type watchdog struct {
	seeds chan uint64
	done  chan struct{}
}

func newWatchdog(t *testing.T) *watchdog {
	w := &watchdog{seeds: make(chan uint64), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		seed, ok := uint64(0), true
		for ok {
			last := seed
			select {
			case seed, ok = <-w.seeds:
			case <-time.After(time.Minute):
				panic(fmt.Sprintf("%s: mutation seed %d does not end", t.Name(), last))
			}
		}
	}()
	return w
}

func (w *watchdog) begin(seed uint64) { w.seeds <- seed }

func (w *watchdog) stop() {
	close(w.seeds)
	<-w.done
}

// A mutator damages copies of small real traces of all versions.
type mutator struct {
	files []original
	r     *rand.Rand
	name  string // of the file that the last mutant is made of
	buf   []byte
}

type original struct {
	name  string
	data  []byte
	edges []int // where blocks begin: damage there is felt
}

// smallTrace is the size of traces that are worth reading a million times; a longer one is taken less often.
const smallTrace = 40 << 10

func newMutator(tb testing.TB) *mutator {
	m := &mutator{}
	add := func(files []corpus.File) {
		for _, f := range files {
			if len(f.Data) > 3*smallTrace+8<<10 {
				continue
			}
			o := original{name: f.Name, data: f.Data}
			for b := range wiretest.Blocks(f.Data) {
				o.edges = append(o.edges, int(b.Offset))
			}
			m.files = append(m.files, o)
		}
	}
	add(corpus.Traces(tb))
	if *mutateShared {
		add(corpus.SharedTraces(tb))
		vectors, _ := filepath.Glob(filepath.Join(corpus.Shared(tb, "data", "vectors"), "*.nettrace"))
		for _, path := range vectors {
			add([]corpus.File{{Name: filepath.Base(path), Data: corpus.Read(tb, path)}})
		}
	}
	return m
}

// mutant returns the damaged trace of a seed. It is valid until the next call.
func (m *mutator) mutant(seed uint64) []byte {
	m.r = rand.New(rand.NewPCG(seed, 0))
	f := m.pick()
	m.name = f.name
	m.buf = append(m.buf[:0], f.data...)
	for range 1 + m.r.IntN(8) {
		m.edit(f)
	}
	if m.r.IntN(50) == 0 {
		m.flips(0.02)
	}
	if m.r.IntN(4) == 0 {
		m.buf = m.buf[:m.r.IntN(len(m.buf)+1)]
	}
	return m.buf
}

func (m *mutator) pick() *original {
	for {
		f := &m.files[m.r.IntN(len(m.files))]
		if len(f.data) <= smallTrace || m.r.IntN(4) == 0 {
			return f
		}
	}
}

// at returns a position: every other one lies close to the beginning of a block.
func (m *mutator) at(f *original) int {
	n := len(m.buf)
	if n == 0 {
		return 0
	}
	if len(f.edges) > 0 && m.r.IntN(2) == 0 {
		return min(max(f.edges[m.r.IntN(len(f.edges))]+m.r.IntN(96)-32, 0), n-1)
	}
	return m.r.IntN(n)
}

// edit changes one place.
func (m *mutator) edit(f *original) {
	at := m.at(f)
	length := min(1+m.r.IntN(1<<m.r.IntN(12)), len(m.buf)-at)
	switch kind := m.r.IntN(12); {
	case len(m.buf) == 0 || kind == 0:
		junk := make([]byte, length+1)
		for i := range junk {
			junk[i] = byte(m.r.Uint32())
		}
		m.buf = slices.Insert(m.buf, at, junk...)
	case kind < 4:
		m.buf[at] ^= 1 << m.r.IntN(8)
	case kind < 7:
		m.buf[at] = [...]byte{0, 1, 0x7f, 0x80, 0xff}[m.r.IntN(5)]
	case kind < 9:
		lie := [...]uint32{math.MaxUint32, 0, 1, math.MaxInt32}[m.r.IntN(4)]
		for i := range min(4, len(m.buf)-at) {
			m.buf[at+i] = byte(lie >> (8 * i))
		}
	case kind == 9:
		m.buf = slices.Delete(m.buf, at, at+length)
	case kind == 10:
		m.buf = slices.Insert(m.buf, m.at(f), slices.Clone(m.buf[at:at+length])...)
	default: // the end of another trace
		other := m.pick()
		m.buf = append(m.buf[:at], other.data[m.r.IntN(len(other.data)):]...)
	}
}

// flips inverts bits of some of the bytes.
func (m *mutator) flips(p float64) {
	for i := range m.buf {
		if m.r.Float64() < p {
			m.buf[i] ^= 1 << m.r.IntN(8)
		}
	}
}

// Laws are what holds for every input, sound or not.
type laws struct {
	view   view
	file   []uint64 // events of the last read in file order
	allocs []metrics.Sample

	end        error // of the last input, lenient in file order
	sound      bool  // it was read to its end, or to where it was cut
	sounds     int
	worst      uint64
	worstRatio float64
}

func newLaws() *laws {
	return &laws{view: newView(), allocs: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
}

// allocated returns how many bytes this process has allocated so far.
func (l *laws) allocated() uint64 {
	metrics.Read(l.allocs)
	return l.allocs[0].Value.Uint64()
}

// check reads an input in file and in time order, lenient and strict. It returns an error if a reader panics, does not end,
// allocates more than 64 MiB and eight times the input, fails with an error that does not say where and why, changes
// something that it gave away for good, or if
//
//   - strict gives other events than lenient does, or more;
//   - lenient in time order gives other events than in file order.
func (l *laws) check(data []byte) error {
	l.sound = false
	var sums [2]uint64
	for i, opts := range []Options{{Order: FileOrder}, {Order: FileOrder, Strict: true}, {}, {Strict: true}} {
		r := ntconv.Report{}
		opts.Report = &r
		before := l.allocated()
		err := l.read(data, &opts)
		took := l.allocated() - before
		switch {
		case took > 64<<20+8*uint64(len(data)):
			return fmt.Errorf("%+v: %d bytes allocated for an input of %d", opts, took, len(data))
		case err != nil && !l.rightly(err, data):
			return fmt.Errorf("%+v: %w", opts, err)
		}
		l.note(took, len(data))
		switch i {
		case 0:
			l.file = append(l.file[:0], l.view.events...)
			l.end = err
			l.sound = err == nil || errors.Is(err, ntconv.ErrTruncated)
			sums[0] = l.view.sum
		case 1:
			got := l.view.events
			if len(got) > len(l.file) || !slices.Equal(got, l.file[:len(got)]) {
				return fmt.Errorf("strict gives %d events that are not the first of the %d that lenient gives", len(got), len(l.file))
			}
			if err == nil && (!l.sound || len(got) != len(l.file)) {
				return fmt.Errorf("strict reads %d events to the end, lenient %d", len(got), len(l.file))
			}
		case 2:
			if sums[1] = l.view.sum; l.sound && sums[0] != sums[1] && r.Count(ntconv.CodeWindowCap) == 0 {
				return fmt.Errorf("%d events in file order, others, %d, in time order", len(l.file), len(l.view.events))
			}
		}
	}
	if l.sound {
		l.sounds++
	}
	return nil
}

func (l *laws) note(took uint64, size int) {
	if took > 8*uint64(size) {
		l.worst = max(l.worst, took-8*uint64(size))
	}
	if size > 32<<10 {
		l.worstRatio = max(l.worstRatio, float64(took)/float64(size))
	}
}

// errBroken marks what no reader may do.
var errBroken = errors.New("broken law")

// read reads an input to its end and looks at everything.
func (l *laws) read(data []byte, opts *Options) error {
	v := &l.view
	v.reset(opts.Order == ByTime && !opts.Strict)
	r, err := New(bytes.NewReader(data), opts)
	if err != nil {
		return err
	}
	last := int64(-1)
	for range 4*len(data) + 100 {
		var e *ntconv.Event
		if e, err = r.Next(); err != nil {
			break
		}
		if e.Offset < 0 || e.Offset+int64(len(e.Payload)) > int64(len(data)) {
			return fmt.Errorf("%w: event at %d with a payload of %d bytes in an input of %d", errBroken, e.Offset, len(e.Payload), len(data))
		}
		if e.Kind == ntconv.KindEvent && opts.Order == FileOrder {
			if e.Offset <= last {
				return fmt.Errorf("%w: event at %d after the one at %d", errBroken, e.Offset, last)
			}
			last = e.Offset
		}
		v.see(e)
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: more than %d events from %d bytes", errBroken, 4*len(data), len(data))
	case v.changed():
		return fmt.Errorf("%w: a type, thread, stack or label list changed after it was delivered", errBroken)
	case err == io.EOF:
		return nil
	}
	if _, again := r.Next(); again != err {
		return fmt.Errorf("%w: %v is followed by %v", errBroken, err, again)
	}
	return err
}

// rightly reports whether an error says where in the input something is wrong, and wraps a sentinel.
func (l *laws) rightly(err error, data []byte) bool {
	if errors.Is(err, errBroken) {
		return false
	}
	sentinel := false
	for _, s := range []error{ntconv.ErrFormat, ntconv.ErrTruncated, ntconv.ErrCorrupt, ntconv.ErrUnsupported, ntconv.ErrLimit} {
		sentinel = sentinel || errors.Is(err, s)
	}
	var f *ntconv.FormatError
	return sentinel && errors.As(err, &f) && f.Offset >= 0 && f.Offset <= int64(len(data)) && f.Format != "" && err.Error() != ""
}

// A view looks at everything that events say and remembers it as numbers.
type view struct {
	schemas schema.Table
	seed    maphash.Seed
	decode  bool     // payloads too
	events  []uint64 // every event with its type, in order
	sum     uint64   // of all events without their types, which in time order may be defined later

	types   map[*ntconv.Type]uint64
	threads map[*ntconv.Thread]uint64
	stacks  map[*ntconv.Stack]uint64
	labels  map[*ntconv.Labels]uint64
	scratch []byte
}

func newView() view {
	return view{
		seed: maphash.MakeSeed(), types: map[*ntconv.Type]uint64{}, threads: map[*ntconv.Thread]uint64{},
		stacks: map[*ntconv.Stack]uint64{}, labels: map[*ntconv.Labels]uint64{},
	}
}

func (v *view) reset(decode bool) {
	v.decode, v.events, v.sum = decode, v.events[:0], 0
	clear(v.types)
	clear(v.threads)
	clear(v.stacks)
	clear(v.labels)
}

func mix(h, n uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, n^0xd1342543de82ef95)
	return hi ^ lo
}

func (v *view) text(h uint64, s ...string) uint64 {
	for _, s := range s {
		h = mix(h, maphash.String(v.seed, s))
	}
	return h
}

// see looks at an event.
func (v *view) see(e *ntconv.Event) {
	h := mix(uint64(e.Kind), uint64(e.Offset))
	h = mix(mix(h, uint64(e.Seq)), uint64(e.Lost))
	h = mix(h, maphash.Bytes(v.seed, e.Payload))
	h = mix(mix(h, once(v.threads, e.Thread, v.thread)), once(v.threads, e.Capture, v.thread))
	h = mix(mix(h, once(v.stacks, e.Stack, v.stack)), once(v.labels, e.Labels, v.list))
	if e.Kind == ntconv.KindEvent {
		h = mix(mix(h, uint64(e.CPU)), uint64(e.Time))
	}
	if e.Mark != nil {
		h = mix(mix(h, uint64(e.Mark.Kind)), uint64(e.Mark.Flags))
		for _, ts := range e.Mark.Threads {
			h = mix(mix(h, once(v.threads, ts.Thread, v.thread)), uint64(ts.Seq))
		}
	}
	if e.Kind == ntconv.KindEvent || e.Kind == ntconv.KindOpaque {
		v.sum += h
	}
	v.events = append(v.events, mix(mix(h, once(v.types, e.Type, v.typ)), uint64(e.Flags&^ntconv.FlagLate)))
	if v.decode && e.Kind == ntconv.KindEvent {
		_, _, _, _ = e.Version(), e.Opcode(), e.Level(), e.Keywords()
		for _, value := range e.Fields() {
			v.value(value, 0)
		}
		for _, value := range v.schemas.Of(e).Values(e) {
			v.value(value, 0)
		}
	}
}

// value looks at a value and at all in it.
func (v *view) value(x ntconv.Value, depth int) {
	switch x.Kind() {
	case ntconv.ValueString:
		v.scratch = x.AppendString(v.scratch[:0])
	case ntconv.ValueList:
		for e := range x.Elems() {
			v.value(e, depth+1)
		}
	case ntconv.ValueObject:
		for _, m := range x.Fields() {
			v.value(m, depth+1)
		}
	case ntconv.ValueError:
		if x.Err() == nil {
			panic("error value without an error")
		}
	}
}

// kept bounds how many definitions are looked at again at the end.
const kept = 1 << 12

// once returns the content of something immutable, and keeps it to compare.
func once[T any](known map[*T]uint64, p *T, content func(*T) uint64) uint64 {
	if p == nil {
		return 0
	}
	h, ok := known[p]
	if !ok {
		h = content(p)
		if len(known) < kept {
			known[p] = h
		}
	}
	return h
}

// changed reports whether something that is immutable has another content than when it was first seen.
func (v *view) changed() bool {
	return altered(v.types, v.typ) || altered(v.threads, v.thread) || altered(v.stacks, v.stack) || altered(v.labels, v.list)
}

func altered[T any](known map[*T]uint64, content func(*T) uint64) bool {
	for p, h := range known {
		if content(p) != h {
			return true
		}
	}
	return false
}

func (v *view) typ(t *ntconv.Type) uint64 {
	h := v.text(mix(uint64(t.ID), t.Keywords), t.Provider, t.Name, t.Message, t.Description)
	h = mix(h, uint64(t.Version)|uint64(t.Level)<<8|uint64(t.Opcode)<<16)
	h = mix(h, maphash.Bytes(v.seed, t.Extra)^maphash.Bytes(v.seed, t.GUID[:]))
	return v.fields(v.attrs(h, t.Attrs), t.Fields)
}

func (v *view) fields(h uint64, fields []ntconv.Field) uint64 {
	for i := range fields {
		h = mix(v.text(h, fields[i].Name), maphash.Bytes(v.seed, fields[i].Extra))
		for t := &fields[i].Type; t != nil; t = t.Elem {
			h = v.fields(mix(h, uint64(t.Code)<<16|uint64(t.Count)), t.Fields)
		}
	}
	return h
}

func (v *view) attrs(h uint64, attrs ntconv.Attrs) uint64 {
	for _, a := range attrs {
		h = v.text(h, a.Key, a.Value)
	}
	return h
}

func (v *view) thread(t *ntconv.Thread) uint64 {
	p := t.Process
	h := v.text(mix(t.TID, p.PID), t.Name, p.Host, p.Name)
	return v.attrs(v.attrs(mix(h, uint64(p.PointerSize)), t.Attrs), p.Attrs)
}

func (v *view) stack(s *ntconv.Stack) uint64 {
	h := uint64(len(s.PCs))
	for _, pc := range s.PCs {
		h = mix(h, pc)
	}
	return h
}

func (v *view) list(l *ntconv.Labels) uint64 {
	h := uint64(len(l.List()))
	for i := range l.List() {
		e := &l.List()[i]
		h = v.text(mix(mix(h, uint64(e.Kind)), uint64(e.Num)), e.Key, e.Str, e.Unit)
		h = mix(h, maphash.Bytes(v.seed, e.ID[:]))
	}
	return h
}

// profiled makes a profile of an input, by a consumer that must keep nothing of events, and has pprof's own library check
// it.
func profiled(data []byte) error {
	var report ntconv.Report
	r, err := New(bytes.NewReader(data), &Options{Report: &report})
	if err != nil {
		return nil // laws.check judged it
	}
	src := ntconvtest.Poison(r)
	names := symbol.New(&symbol.Options{Report: &report})
	var out bytes.Buffer
	sink := pprof.New(&out, src.Info(), names, &pprof.Options{Report: &report, Uncompressed: true})
	var ended *ntconv.SourceError
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil && !errors.As(err, &ended) {
		return fmt.Errorf("profile: %w", err)
	}
	if err := sink.Close(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if sink.Summary().Samples == 0 {
		return nil
	}
	p, err := profile.ParseUncompressed(out.Bytes())
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return fmt.Errorf("profile of %d bytes: %w", out.Len(), err)
	}
	return nil
}

// TestMutants keeps the mutator itself honest: a seed gives the same bytes again.
func TestMutants(t *testing.T) {
	a, b := newMutator(t), newMutator(t)
	for seed := range uint64(50) {
		if !bytes.Equal(a.mutant(seed), b.mutant(seed)) {
			t.Fatalf("seed %d gives two mutants", seed)
		}
	}
	if dir := os.Getenv("NTCONV_MUTANT"); dir != "" { // writes the mutant of -mutation-seed to a file, to look at
		if err := os.WriteFile(dir, a.mutant(*mutationSeed), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
