package speedscope

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/owner"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A profile is a profile that is being read. Its members may come in any order, so members that cannot be processed yet
// are kept in memory.
type profile struct {
	*file
	kind, name string
	unit       *unit // nil until it is known
	start, end jsonio.Decimal
	hasStart   bool
	hasEnd     bool

	ready     bool // prepare has set thread, number and values
	thread    *ntconv.Thread
	number    uint32 // number of the thread in the Builder
	values    imported.ValueType
	column    int
	hasColumn bool // prepare has set column

	samples []imported.Node
	weights []jsonio.Decimal
	path    []imported.Node // nodes of the latest sample, from the root
	frames  []uint32        // frames of these nodes

	open    open           // state of the events so far
	pending []pendingEvent // events that preceded the members needed to apply them
	events  jsonio.Place   // position of the events, for the report
}

// A pendingEvent is an event of an evented profile.
type pendingEvent struct {
	at    jsonio.Decimal
	frame uint32
	close bool
}

// Memory charged for buffered members, in bytes per element.
const (
	sampleBytes  = 8
	weightBytes  = 24
	pendingBytes = 32
)

var profileMembers = []string{"type", "name", "unit", "startValue", "endValue", "samples", "weights", "events"}

// profile reads profile i and adds its samples or slices. It returns the memory charged for buffered members.
func (f *file) profile(i int) error {
	p := &profile{file: f}
	err := f.Object(profileMembers, func(m int) (err error) {
		switch m {
		case 0:
			p.kind, err = f.String()
		case 1:
			p.name, err = f.String()
		case 2:
			err = p.readUnit()
		case 3:
			p.start, p.hasStart, err = f.Decimal()
		case 4:
			p.end, p.hasEnd, err = f.Decimal()
		default:
			err = p.readSamples(m)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case p.unit == nil:
		return f.Corrupt("profile %d has no unit", i)
	case p.kind != "sampled" && p.kind != "evented":
		return f.Corrupt("profile %d: want type sampled or evented, got %q", i, p.kind)
	case p.isSum():
	case p.kind == "sampled":
		err = p.finishSampled()
	default:
		err = p.finishEvented()
	}
	if err != nil {
		return err
	}
	f.profiles = append(f.profiles, summary{p.thread, p.number, p.values})
	return f.b.Charge(-int64(sampleBytes*len(p.samples) + weightBytes*len(p.weights) + pendingBytes*len(p.pending)))
}

// readSamples reads the member profileMembers[member], which contains samples, weights or events.
func (p *profile) readSamples(member int) error {
	switch {
	case p.isSum():
		return p.Skip()
	case profileMembers[member] == "samples":
		return p.Array(func(int) error { return p.sample() })
	case profileMembers[member] == "weights":
		return p.Array(func(i int) error { return p.weight(i) })
	}
	return p.readEvents()
}

// prepare determines the thread and, unless the profile has slices, the sample type. Name, unit and start must be
// known.
func (p *profile) prepare(hasSamples bool) error {
	if !p.ready {
		p.ready, p.values = true, p.unit.values
		own, err := p.adopt()
		if err != nil {
			return err
		}
		if !own {
			p.thread = p.newThread()
			if p.number, err = p.b.AddThread(p.thread, nil); err != nil {
				return p.Fail(p.Place(), err)
			}
		}
	}
	if hasSamples && !p.hasColumn { // a profile with slices may have samples, too
		var err error
		if p.column, err = p.b.Column(p.values); err != nil {
			return p.Fail(p.Place(), err)
		}
		p.hasColumn = true
	}
	return nil
}

// dotnetThread matches the profile names of dotnet-trace.
var dotnetThread = onFirstUse(`^Thread \((\d+)\)$`)

// newThread returns a thread with the ID that dotnet-trace states, or else with the number of the profile.
func (p *profile) newThread() *ntconv.Thread {
	if m := dotnetThread().FindStringSubmatch(p.name); m != nil {
		if id, ok := owner.Parse(m[1]); ok && p.tids.Add(id) {
			return &ntconv.Thread{TID: id, Process: p.process}
		}
	}
	return &ntconv.Thread{TID: p.tids.New(uint64(len(p.profiles)) + 1), Name: p.name, Process: p.process}
}

func (p *profile) readUnit() error {
	name, err := p.String()
	if err != nil {
		return err
	}
	for i := range units {
		if units[i].name == name {
			p.unit = &units[i]
			return nil
		}
	}
	return p.Corrupt("unknown unit %q; want %s", name, unitNames())
}

func unitNames() string {
	var names []string
	for _, u := range units {
		names = append(names, u.name)
	}
	return strings.Join(names, ", ")
}

// checkFrame validates the index of a frame. If frames follow later, it records the highest index for read.
func (p *profile) checkFrame(n int64) error {
	if n <= p.highest {
		return nil
	}
	if p.hasFrames && n >= int64(len(p.file.frames)) {
		return p.noFrame(p.Place(), n)
	}
	if p.highest = n; !p.hasFrames {
		p.highestPlace = p.Place()
	}
	return nil
}

// sample reads a stack, which starts at the root.
func (p *profile) sample() error {
	same := true // equal to the previous sample so far
	depth := 0
	err := p.Array(func(i int) error {
		n, err := p.Index(0, 1<<32-1, -1)
		if err != nil {
			return err
		}
		if n < 0 {
			return p.Corrupt("a frame is null")
		}
		depth = i + 1
		if same && i < len(p.frames) && p.frames[i] == uint32(n) {
			return nil
		}
		if err := p.checkFrame(n); err != nil {
			return err
		}
		same = false
		caller := imported.NoStack
		if i > 0 {
			caller = p.path[i-1]
		}
		node, err := p.b.Child(caller, uint32(n))
		if err != nil {
			return p.Fail(p.Place(), err)
		}
		p.path, p.frames = append(p.path[:i], node), append(p.frames[:i], uint32(n))
		return nil
	})
	if err != nil {
		return err
	}
	p.path, p.frames = p.path[:depth], p.frames[:depth]
	node := imported.NoStack
	if depth > 0 {
		node = p.path[depth-1]
	}
	p.samples = append(p.samples, node)
	return p.charge(sampleBytes)
}

// weight reads a weight. Weights stay decimals until finishSampled, because the unit may follow.
func (p *profile) weight(i int) error {
	d, ok, err := p.Decimal()
	if err != nil {
		return err
	}
	if !ok {
		return p.Corrupt("weight %d is null", i)
	}
	p.weights = append(p.weights, d)
	return p.charge(weightBytes)
}

// begin returns the time at which the profile begins.
func (p *profile) begin() (int64, error) {
	if !p.unit.isTime {
		return p.file.start, nil // samples without times begin with the trace
	}
	at, err := p.value(p.start, "startValue")
	if !p.timed {
		p.timed, p.file.start = true, at
	}
	return at, err
}

// value returns a number of the profile in the unit of its column.
func (p *profile) value(d jsonio.Decimal, what string) (int64, error) {
	v, exact, ok := d.Scale(p.unit.digits)
	if !ok || v > imported.MaxTime || v < -imported.MaxTime {
		return 0, p.Corrupt("%s %s is out of range", what, decimalText(d))
	}
	if !exact && !p.unit.isTime {
		p.o.Report.Note(ntconv.CodeNotCarried, 1, p.Place().Offset, "values were rounded to integers")
	}
	return v, nil
}

func decimalText(d jsonio.Decimal) string {
	return strconv.FormatInt(d.Mantissa, 10) + "e" + strconv.Itoa(int(d.Exponent))
}

// finishSampled adds the samples of a sampled profile.
func (p *profile) finishSampled() error {
	if len(p.samples) != len(p.weights) {
		return p.Corrupt("%d samples, but %d weights", len(p.samples), len(p.weights))
	}
	if err := p.prepare(true); err != nil {
		return err
	}
	at, err := p.begin()
	if err != nil {
		return err
	}
	for i, node := range p.samples {
		w, err := p.value(p.weights[i], "weight")
		if err != nil {
			return err
		}
		if err := p.b.Sample(at, p.number, node, []imported.Value{{Column: p.column, N: w}}); err != nil {
			return p.Fail(p.Place(), err)
		}
		if p.unit.isTime { // a negative weight, as in a comparison, takes no time
			at = min(at+max(w, 0), imported.MaxTime+1)
		}
	}
	return nil
}
