package mutate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	importparquet "github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/mutate"
	"github.com/ntconv/ntconv/internal/testing/pagedata"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// A target is code that reads mutants.
type target struct {
	name  string
	share int // share of mutants, relative to other targets
	seeds []*mutate.Seed
	// check reads a mutant. rejected is the error for an input that cannot be read to its end; err is a violated
	// property.
	check func(n uint64, data []byte) (rejected, err error)

	mutator  *mutate.Mutator
	mutants  int
	accepted int
	reasons  map[error]int // by sentinel
	worst    uint64        // bytes allocated
}

const fullShare = 8

// traceTargets returns the targets that read nettrace and netperf.
func traceTargets(t *testing.T, seeds []*mutate.Seed) (list []*target) {
	add := func(name string, share int, check func(uint64, []byte) (error, error)) {
		list = append(list, &target{name: name, share: share, seeds: seeds, check: check})
	}
	add("reader", fullShare, checkReader())
	add("symbol", fullShare, checkSymbols)
	add("writer", fullShare, checkWriter)
	add("verify", fullShare, checkVerify(seeds))
	add("print", fullShare, checkPrinter)
	add("info", fullShare, checkInventory)
	dir := t.TempDir()
	for _, e := range exporters() {
		share := fullShare
		if e.name == "parquet" {
			share = 2 // some twenty files
		}
		add("to "+e.name, share, func(n uint64, data []byte) (error, error) {
			out := output{}
			rejected, err := convert(data, &out, e, dir)
			if err == nil && n/7%8 == 0 && out.made {
				err = reopen(e.name, &out, rejected != nil)
			}
			return rejected, err
		})
	}
	return list
}

// checkReader checks the properties of all readings, and that the size of reads makes no difference.
func checkReader() func(uint64, []byte) (error, error) {
	c := laws.New(func(data []byte, how laws.Reading, report *ntconv.Report) (ntconv.Source, error) {
		o := &reader.Options{Strict: how.Strict, Report: report}
		if !how.ByTime {
			o.Order = reader.FileOrder
		}
		return reader.New(bytes.NewReader(data), o)
	})
	view := laws.NewView()
	return func(n uint64, data []byte) (error, error) {
		if err := c.Check(data); err != nil {
			return nil, err
		}
		if n/3%4 == 0 {
			if err := checkChopped(view, n, data); err != nil {
				return nil, err
			}
		}
		return c.End, nil
	}
}

// checkChopped compares reads of 1 or 7 bytes, and an input in memory, with a read of the whole input.
func checkChopped(view *laws.View, n uint64, data []byte) error {
	size := [...]int{1, 7}[n/12%2]
	for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
		var want string
		for i := range 3 {
			o := &reader.Options{Order: order}
			var src ntconv.Source
			var err error
			switch i {
			case 0:
				src, err = reader.New(bytes.NewReader(data), o)
			case 1:
				src, err = reader.New(ntconvtest.Chop(bytes.NewReader(data), size), o)
			default:
				src, err = reader.NewBytes(data, o)
			}
			events := 0
			view.Reset(false)
			if err == nil {
				events, err = drain(src, view, 4*len(data)+100)
			}
			got := fmt.Sprintf("%d events, sum %x, then %v", events, view.Sum(), err)
			if i > 0 && got != want {
				return fmt.Errorf("order %v, pieces of %d bytes or from memory (%d): %s; in one read %s", order, size, i, got, want)
			}
			want = got
		}
	}
	return nil
}

// drain reads a source to its end and examines all events.
func drain(src ntconv.Source, view *laws.View, limit int) (events int, err error) {
	for {
		e, err := src.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		if events++; events > limit {
			return events, fmt.Errorf("%w: more than %d events", errEndless, limit)
		}
		view.See(e)
	}
}

// errEndless means that a source yields more events than its bytes can contain.
var errEndless = errors.New("no end")

// maxStacks is the number of stacks that are symbolized.
const maxStacks = 64

// checkSymbols symbolizes stacks as events are read, and again after the whole trace has been read.
func checkSymbols(_ uint64, data []byte) (rejected, err error) {
	src, names, err := open(data, reader.ByTime, new(ntconv.Report), false)
	if err != nil {
		return err, nil
	}
	type sample struct {
		process *ntconv.Process
		stack   ntconv.Stack
		at      ntconv.Ticks
	}
	var kept []sample
	var frames []ntconv.Frame
	for {
		e, err := src.Next()
		if err != nil {
			if err != io.EOF {
				rejected = err
			}
			break
		}
		if e.Kind != ntconv.KindEvent || e.Stack == nil || len(kept) == maxStacks || e.Thread == nil {
			continue
		}
		s := sample{e.Thread.Process, ntconv.Stack{PCs: append([]uint64(nil), e.Stack.PCs...), Frames: e.Stack.Frames}, e.Time}
		names.Epoch(s.process, &s.stack, s.at)
		if len(kept)%2 == 0 {
			names.Want(s.process, &s.stack)
		}
		kept = append(kept, s)
	}
	names.Missed()
	names.Settle()
	for i := range kept {
		s := &kept[i]
		frames = names.AppendFrames(frames[:0], s.process, &s.stack, s.at)
		if s.stack.Frames == nil && len(frames) < len(s.stack.PCs) {
			return rejected, fmt.Errorf("%d frames for %d addresses", len(frames), len(s.stack.PCs))
		}
		names.Epoch(s.process, &s.stack, s.at)
		names.Mappings(s.process)
		names.Process(s.process)
	}
	names.ReportUnresolved(new(ntconv.Report))
	return rejected, nil
}

// checkWriter: a valid trace is written and read without a difference. Other traces are written as readable traces.
func checkWriter(n uint64, data []byte) (rejected, err error) {
	o := &reader.Options{AllowPrerelease: true}
	if n/5%2 == 0 {
		o.Order = reader.FileOrder
	}
	src, err := reader.New(bytes.NewReader(data), o)
	if err != nil {
		return err, nil
	}
	var out bytes.Buffer
	opts := &writer.Options{Ordered: o.Order == reader.ByTime, AllowLarge: true}
	if n/10%3 == 0 {
		opts.BlockEvents, opts.BlockBytes = 3, 200
	}
	w, err := writer.New(&out, src.Info(), opts)
	if err != nil {
		return nil, unlessLimit(err)
	}
	_, err = ntconv.Copy(w, ntconvtest.Poison(src))
	var ended *ntconv.SourceError
	if errors.As(err, &ended) {
		rejected, err = ended, nil
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return rejected, unlessLimit(err)
	}
	if rejected != nil || !valid(data, o.Order) {
		return rejected, isReadable(out.Bytes())
	}
	if err := equal(data, out.Bytes(), o); err != nil || o.Order == reader.FileOrder {
		return nil, err
	}
	if a, b := lost(data), lost(out.Bytes()); a != b {
		return nil, fmt.Errorf("%d events were lost; rewritten in time order, %d", a, b)
	}
	return nil, nil
}

// lost returns the number of lost events in a trace.
func lost(data []byte) (n uint64) {
	src, err := reader.New(bytes.NewReader(data), &reader.Options{AllowPrerelease: true})
	for err == nil {
		var e *ntconv.Event
		if e, err = src.Next(); err == nil && e.Kind == ntconv.KindLost {
			n += uint64(e.Lost)
		}
	}
	return n
}

// valid reports whether the strict reader reads a trace to its end and interprets all rows: an unknown 32-bit type code
// of version 4 may be a known code followed by other bytes in version 6. For a comparison in time order, time must not
// decrease on any thread. A reader in time order must not observe this either, as it does after false flags of sorted
// events and in netperf files. A recorder of nettrace writes neither, and a gap in the sequence numbers of such a
// thread has no position in time order.
func valid(data []byte, order reader.Order) bool {
	if order == reader.FileOrder {
		return monotonic(data, order, func(*ntconv.Event) *ntconv.Thread { return nil }, false)
	}
	return monotonic(data, reader.FileOrder, func(e *ntconv.Event) *ntconv.Thread { return e.Capture }, true) &&
		monotonic(data, order, func(*ntconv.Event) *ntconv.Thread { return nil }, true)
}

// monotonic reports whether the strict reader reads a trace to its end and, if times is set, no event is earlier than
// the previous event of its thread.
func monotonic(data []byte, order reader.Order, of func(*ntconv.Event) *ntconv.Thread, times bool) bool {
	var report ntconv.Report
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: order, Strict: true, AllowPrerelease: true, Report: &report})
	if err != nil {
		return false
	}
	last := map[*ntconv.Thread]ntconv.Ticks{}
	for {
		e, err := src.Next()
		if err != nil {
			return err == io.EOF && report.Count(ntconv.CodeRowSkipped) == 0
		}
		if e.Kind != ntconv.KindEvent || !times {
			continue
		}
		t := of(e)
		if before, ok := last[t]; ok && e.Time < before {
			return false
		}
		last[t] = e.Time
	}
}

// isReadable returns an error if a written trace cannot be read to its end.
func isReadable(data []byte) error {
	src, err := reader.New(bytes.NewReader(data), nil)
	if err == nil {
		_, err = drain(src, laws.NewView(), 4*len(data)+100)
	}
	if err != nil {
		return fmt.Errorf("the trace of %d bytes that was written: %w", len(data), err)
	}
	return nil
}

// unlessLimit returns nil if err is a limit of the output format, and err otherwise.
func unlessLimit(err error) error {
	if errors.Is(err, ntconv.ErrLimit) || errors.Is(err, ntconv.ErrUnsupported) {
		return nil
	}
	return err
}

// equal compares two traces as the command verify does. It ignores flags of sorted events, because the writer drops
// false ones, and the order of losses at the same tick in time order.
func equal(a, b []byte, o *reader.Options) error {
	var sides [2]ntconv.Source
	for i, data := range [][]byte{a, b} {
		src, err := reader.New(bytes.NewReader(data), o)
		if err != nil {
			return err
		}
		sides[i] = src
	}
	_, err := tracecmp.Streams(sides[0], sides[1], &tracecmp.Options{EmptyMarks: true, Sorted: true, Lost: o.Order == reader.ByTime, Errors: true})
	return err
}

// checkVerify: a trace equals itself, and a comparison with another trace terminates.
func checkVerify(seeds []*mutate.Seed) func(uint64, []byte) (error, error) {
	return func(n uint64, data []byte) (error, error) {
		for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
			o := &reader.Options{Order: order, AllowPrerelease: true}
			if _, err := reader.New(bytes.NewReader(data), o); err != nil {
				return err, nil
			}
			if err := equal(data, data, o); err != nil {
				return nil, fmt.Errorf("compared with itself: %w", err)
			}
			var d *tracecmp.Difference
			if err := equal(data, seeds[int(n)%len(seeds)].Data, o); err != nil && !errors.As(err, &d) {
				return nil, fmt.Errorf("compared with another: %w", err)
			}
		}
		return nil, nil
	}
}

// checkPrinter: each line of JSON is valid, and text lines contain no control characters for a terminal.
func checkPrinter(n uint64, data []byte) (rejected, err error) {
	src, names, err := open(data, reader.ByTime, new(ntconv.Report), n/5%2 == 0)
	if err != nil {
		return err, nil
	}
	opts := eventtext.Options{Hex: n/10%4 == 0, CRC: true, Stacks: true, Namer: names}
	if n/5%2 == 1 {
		opts.Namer = nil
	}
	p := eventtext.New(src.Info().Clock, opts)
	var line []byte
	for {
		e, err := src.Next()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		if e.Kind == ntconv.KindEvent {
			if line = p.AppendJSON(line[:0], e); !json.Valid(line) {
				return nil, fmt.Errorf("not JSON: %q", line)
			}
		}
		line = p.AppendText(line[:0], e)
		for _, c := range line {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return nil, fmt.Errorf("control character in %q", line)
			}
		}
	}
}

func checkInventory(_ uint64, data []byte) (rejected, err error) {
	src, names, err := open(data, reader.ByTime, new(ntconv.Report), false)
	if err != nil {
		return err, nil
	}
	sink, totals := inventory.New(src.Info()), overview.New(src.Info(), overview.Options{})
	_, err = ntconv.Copy(sink, ntconv.Observe(ntconvtest.Poison(src), func(e *ntconv.Event) { _ = totals.Write(e) }))
	_ = totals.Close() // as Write, it returns no error
	o := totals.Describe(0, 1<<40, true, "IN")
	if _, err := json.Marshal(o); err != nil {
		return nil, err
	}
	o.Text(overview.TextOptions{All: true})
	var ended *ntconv.SourceError
	if errors.As(err, &ended) {
		rejected, err = ended, nil
	}
	_ = names
	return rejected, err
}

// reopen reads the output of an exporter with independent code: the library of pprof, a parser of JSON or protobuf, or
// an importer.
func reopen(name string, out *output, partial bool) error {
	data := out.Bytes()
	switch name {
	case "pprof":
		p, err := profile.ParseUncompressed(data)
		if err == nil {
			err = p.CheckValid()
		}
		if err != nil && len(data) > 0 {
			return fmt.Errorf("profile of %d bytes: %w", len(data), err)
		}
	case "perfetto":
		return checkProto(data)
	case "html":
		_, err := pagedata.Decode(data, "data")
		return err
	case "chrome", "firefox", "speedscope":
		if !json.Valid(data) {
			return fmt.Errorf("not JSON: %.300q", data)
		}
	}
	var src ntconv.Source
	var err error
	if name == "parquet" {
		src, err = importparquet.New(memory(out.tables), nil)
	} else {
		format, _, _ := strings.Cut(name, "-")
		f := formats.ByName(formats.Readable(), format)
		if f == nil {
			return nil
		}
		src, err = readable.Open(f, data, nil)
	}
	if err == nil {
		_, err = drain(src, laws.NewView(), 1<<20)
	}
	// Both importers reject times more than 100 years from the start. A trace may have any time.
	far := err != nil && (name == "firefox" && strings.Contains(err.Error(), "100 years") || name == "speedscope" && strings.HasSuffix(err.Error(), "is out of range"))
	if err != nil && !far {
		return fmt.Errorf("%s of %d bytes cannot be read again: %w", name, len(data), err)
	}
	return nil
}

// checkProto checks that bytes are fields of a protobuf message.
func checkProto(b []byte) error {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}

// symbolized returns a source in which names have addresses, for formats that store only addresses.
func symbolized(src ntconv.Source) ntconv.Source { return symbol.Synthesize(src, nil) }
