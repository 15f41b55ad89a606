package tracegen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// SpanOptions describe a trace of Activities as Microsoft-Diagnostics-DiagnosticSource records them with the payload
// specification of dotnet-monitor: one Stop event per span. Spans are grouped into traces of TraceSpans spans; the root
// ends last. Zero selects the default of a member.
type SpanOptions struct {
	Version wire.Version // V4 or V6; 0 means V4
	Spans   int64
	Threads int // default 16
	Sources int // default 4
	Tags    int // default 6
	// Starts determines how many spans also have a Start event: one in Starts spans; 0 means none.
	Starts int
}

const (
	// TraceSpans is the number of spans in a trace of WriteSpans.
	TraceSpans = 8
	// spanWindow is the number of spans between two sequence points.
	spanWindow = 10_000
	// maxOpenSpans is the distance in spans between a Start event and its Stop event.
	maxOpenSpans = 100
)

// WriteSpans writes a trace of Activities without holding it in memory. Stats.Samples is the number of Stop events.
func WriteSpans(w io.Writer, o SpanOptions) (Stats, error) {
	if o.Version == 0 {
		o.Version = wire.V4
	}
	for _, d := range []struct {
		v *int
		n int
	}{{&o.Threads, 16}, {&o.Sources, 4}, {&o.Tags, 6}} {
		if *d.v == 0 {
			*d.v = d.n
		}
	}
	if o.Version != wire.V4 && o.Version != wire.V6 {
		return Stats{}, fmt.Errorf("version %d: want 4 or 6", o.Version)
	}
	g := &spanGenerator{spans: o}
	g.o.Version, g.o.Threads = o.Version, o.Threads
	g.s, g.clock, g.seqs = wirestream.New(w, o.Version), 1_000_000_000, make([]uint32, o.Threads)
	g.describe()
	g.blocks = []*wirestream.EventBlock{g.s.Events()}
	for i := int64(0); i < o.Spans && g.s.Err() == nil; i++ {
		if i%spanWindow == 0 {
			g.flush(i > 0)
			g.declare(0, 0)
		}
		if i == 0 {
			for k := range min(maxOpenSpans, o.Spans) {
				g.start(k)
			}
		}
		if next := i + maxOpenSpans; next < o.Spans {
			g.start(next)
		}
		g.stop(i)
	}
	g.processInfo()
	g.flush(true)
	g.s.End()
	g.stats.Bytes = g.s.Offset()
	return g.stats, g.s.Err()
}

// Metadata IDs of WriteSpans.
const (
	typeActivityStart = 1 + iota
	typeActivityStop
	typeProcessInfo
)

// A spanGenerator writes a trace of Activities.
type spanGenerator struct {
	generator
	spans SpanOptions
	text  []byte // buffer
}

func (g *spanGenerator) describe() {
	text := func(name string) wire.Field {
		return wire.Field{Name: name, Type: wire.Type{Code: wire.TypeUTF16String}}
	}
	pair := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{text("Key"), text("Value")}}
	activity := []wire.Field{text("SourceName"), text("ActivityName"), {Name: "Arguments", Type: wire.Type{Code: wire.TypeArray, Elem: &pair}}}
	const provider = "Microsoft-Diagnostics-DiagnosticSource"
	g.s.Types(
		wirestream.Type{ID: typeActivityStart, Provider: provider, Event: 17, Name: "ActivityStart", Fields: activity, Arrays: true},
		wirestream.Type{ID: typeActivityStop, Provider: provider, Event: 16, Name: "ActivityStop", Fields: activity, Arrays: true},
		wirestream.Type{
			ID: typeProcessInfo, Provider: "Microsoft-DotNETCore-EventPipe", Event: 1, Version: 1, Name: "ProcessInfo",
			Fields: []wire.Field{text("CommandLine"), text("OSInformation"), text("ArchInformation")},
		},
	)
}

// flush ends a window. It writes a sequence point if the window contains events.
func (g *spanGenerator) flush(point bool) {
	g.blocks[0].Flush()
	if point {
		g.sequencePoint()
	}
}

// emit writes an event of a thread.
func (g *spanGenerator) emit(id uint32, thread int, payload []byte) {
	g.clock += 100
	g.seqs[thread]++
	g.stats.Events++
	t := g.threadID(thread)
	b := g.blocks[0]
	b.Add(&wire.EventHeader{
		MetadataID: id, Time: g.clock, PayloadSize: uint32(len(payload)), Sorted: true, Sequence: g.seqs[thread], Thread: t,
		CaptureThread: t, CPU: uint32(thread % 8),
	}, payload)
	if b.Len() >= eventBlockSize {
		b.Flush()
	}
}

// spanID returns the ID of the i-th span. IDs are distinct and look random.
func spanID(i int64) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }

// firstTick is the number of 100 ns units from the year 1 to the start of the trace.
var firstTick = uint64(621_355_968_000_000_000 + time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC).UnixNano()/100)

// arguments appends the common fields of Start and Stop events.
func (g *spanGenerator) arguments(b []byte, i, count int64) []byte {
	b = bin.AppendUTF16Z(b, "Shop.Source"+strconv.FormatInt(i%int64(g.spans.Sources), 10))
	b = bin.AppendUTF16Z(b, "operation"+strconv.FormatInt(i%100, 10))
	b = bin.AppendU16(b, uint16(count))
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], 0xabcdef)
	binary.BigEndian.PutUint64(id[8:], uint64(i/TraceSpans+1))
	b = g.argument(b, "TraceId", hex.EncodeToString(id[:]))
	binary.BigEndian.PutUint64(id[:], spanID(i))
	b = g.argument(b, "SpanId", hex.EncodeToString(id[:8]))
	parent := uint64(0)
	if root := i/TraceSpans*TraceSpans + TraceSpans - 1; i != root && root < g.spans.Spans {
		parent = spanID(root)
	}
	binary.BigEndian.PutUint64(id[:], parent)
	b = g.argument(b, "ParentSpanId", hex.EncodeToString(id[:8]))
	b = g.argument(b, "ActivityTraceFlags", "Recorded")
	b = g.argument(b, "Kind", [...]string{"Internal", "Server", "Client"}[i%3])
	b = g.argument(b, "DisplayName", "operation "+strconv.FormatInt(i%100, 10))
	return g.argument(b, "StartTimeTicks", strconv.FormatUint(firstTick+uint64(i)*10, 10))
}

func (g *spanGenerator) argument(b []byte, key, value string) []byte {
	return bin.AppendUTF16Z(bin.AppendUTF16Z(b, key), value)
}

// start writes the Start event of the i-th span, if it has one.
func (g *spanGenerator) start(i int64) {
	if g.spans.Starts <= 0 || i%int64(g.spans.Starts) != 0 {
		return
	}
	g.payload = g.argument(g.arguments(g.payload[:0], i, 8), "DurationTicks", "0")
	g.emit(typeActivityStart, int(i%int64(g.spans.Threads)), g.payload)
}

// stop writes the Stop event of the i-th span.
func (g *spanGenerator) stop(i int64) {
	b := g.arguments(g.payload[:0], i, 11)
	b = g.argument(b, "DurationTicks", strconv.FormatInt(1000+i%100_000, 10))
	b = g.argument(b, "Status", "Unset")
	tags := g.text[:0]
	for k := range g.spans.Tags {
		if k > 0 {
			tags = append(tags, ',')
		}
		tags = fmt.Appendf(tags, "[shop.tag%d, value %d]", k, i%1000)
	}
	g.text = tags
	b = g.argument(b, "Tags", string(tags))
	b = g.argument(b, "ActivitySourceVersion", "1.2")
	g.payload = b
	g.emit(typeActivityStop, int((i+1)%int64(g.spans.Threads)), b)
	g.stats.Samples++
}

// processInfo writes the event that .NET writes last.
func (g *spanGenerator) processInfo() {
	b := bin.AppendUTF16Z(nil, "/srv/generated /srv/generated.dll --spans")
	b = bin.AppendUTF16Z(b, "Linux")
	g.emit(typeProcessInfo, 0, bin.AppendUTF16Z(b, "x64"))
}
