package split

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/where"
)

// An Every states what divides a trace. Exactly one member is set.
type Every struct {
	Time     time.Duration    // parts of this length
	Size     int64            // parts of this number of bytes
	Process  bool             // one part per process
	Boundary *where.Expr      // each event for which it is true begins a part
	Fields   []*where.Operand // one part per distinct list of values
	text     string
}

// String returns the text that ParseEvery parsed.
func (e *Every) String() string { return e.text }

// errEvery describes what ParseEvery accepts.
var errEvery = errors.New("want a time (10s), a size (100MB), process, a field ($tid), or an expression that is true for " +
	"the first event of each part")

// ParseEvery parses a time such as 10s, a size such as 100MB or 64MiB, the word process, one or more fields separated by
// commas, or an expression in the language of where.
func ParseEvery(text string) (*Every, error) {
	e := &Every{text: text}
	t := strings.TrimSpace(text)
	switch {
	case t == "":
		return nil, errEvery
	case t == "process":
		e.Process = true
		return e, nil
	case unicode.IsDigit(rune(t[0])) || t[0] == '.' || t[0] == '-':
		return e, e.amount(t)
	}
	var err error
	if e.Fields, err = where.ParseOperands(text); err == nil {
		return e, e.checkFields()
	}
	e.Fields = nil
	if e.Boundary, err = where.Parse(text); err != nil {
		return nil, fmt.Errorf("%w; %w", errEvery, err) // err ends with a line that points at the position
	}
	return e, nil
}

// amount parses a time or a size.
func (e *Every) amount(t string) (err error) {
	if e.Time, err = time.ParseDuration(t); err == nil {
		if e.Time <= 0 {
			return errors.New("the time must be longer than 0")
		}
		return nil
	}
	end := strings.LastIndexAny(t, "0123456789.") + 1
	units := map[string]float64{
		"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30,
	}
	unit, known := units[strings.ToUpper(strings.TrimSpace(t[end:]))]
	n, err := strconv.ParseFloat(t[:end], 64)
	if !known || err != nil {
		return errEvery
	}
	if n *= unit; n < minSize || n > maxSize {
		return fmt.Errorf("the size must be at least %d bytes and at most 1 EiB", minSize)
	}
	e.Size = int64(n)
	return nil
}

// minSize is the smallest size of a part in bytes: the header of a file and its definitions need a few thousand.
const minSize = 4096

// maxSize keeps the conversion of a size to an integer exact.
const maxSize = 1 << 60

// checkFields rejects fields whose values are not known while the trace is read.
func (e *Every) checkFields() error {
	for _, f := range e.Fields {
		switch {
		case f.Owner() != where.OwnerNone:
			return fmt.Errorf("%v: names of processes and threads may be known only later; use process, $pid or $tid", f)
		case f.IsTime():
			return fmt.Errorf("%v: almost every event has its own time; use a time such as 10s", f)
		}
	}
	return nil
}

// Ranked reports whether the parts overlap in time.
func (e *Every) Ranked() bool { return e.Process || e.Fields != nil }

// A divider assigns events to parts. Parts that follow each other have ascending numbers.
type divider interface {
	// part returns the number of the part of an event, from 0, and whether it is the first event of the part. A new
	// number is one more than the highest so far.
	part(e *ntconv.Event) (n int, first bool)
	// value returns what the events of the part that was returned last have in common, or "".
	value() string
	// notes returns what users should know after the last event, such as fields that no event has.
	notes() []string
}

// plain has no values and no notes.
type plain struct{}

func (plain) value() string   { return "" }
func (plain) notes() []string { return nil }

// divider returns a divider for a trace. written returns the size in bytes of the current part; it may be nil unless
// Size is set.
func (e *Every) divider(info *ntconv.Info, written func() int64) (divider, error) {
	switch {
	case e.Time > 0:
		return &times{clock: info.Clock, every: e.Time, window: -1, n: -1}, nil
	case e.Size > 0:
		return &sizes{limit: e.Size, written: written, n: -1}, nil
	case e.Boundary != nil:
		m, err := e.Boundary.Bind(info.Clock)
		if err != nil {
			return nil, err
		}
		return &boundaries{matcher: m, n: -1}, nil
	case e.Process:
		return &processes{numbers: map[processID]int{}}, nil
	}
	v := &values{columns: where.NewColumns(info.Clock, e.Fields), fields: len(e.Fields), numbers: map[string]int{}}
	if !slices.ContainsFunc(e.Fields, func(f *where.Operand) bool { return f.String() != "$tid" && f.String() != "$pid" }) {
		v.threads = map[*ntconv.Thread]int{}
	}
	return v, nil
}

// times divides by time since the first event. Windows without an event have no part. An event that is earlier than
// the current window belongs to it all the same.
type times struct {
	plain
	clock  ntconv.Clock
	every  time.Duration
	start  ntconv.Ticks
	until  ntconv.Ticks // end of the current window
	window int64
	n      int
}

func (t *times) part(e *ntconv.Event) (int, bool) {
	if t.n < 0 {
		t.start, t.until = e.Time, e.Time
	}
	if e.Time < t.until || t.n >= 0 && t.until <= t.start {
		return t.n, false
	}
	window := int64(t.clock.Since(t.start, e.Time) / t.every)
	end := ntconv.Clock{Freq: t.clock.Freq, Tick: t.start}
	t.until = end.TicksAt(time.Duration(min(window+1, int64(1<<62)/int64(t.every))) * t.every)
	if window == t.window {
		return t.n, false
	}
	t.window = window
	t.n++
	return t.n, true
}

// sizes divides by the size of the output: that of the events of the trace, without replicas.
type sizes struct {
	plain
	limit   int64
	written func() int64
	n       int
}

func (s *sizes) part(*ntconv.Event) (int, bool) {
	if s.n >= 0 && s.written() < s.limit {
		return s.n, false
	}
	s.n++
	return s.n, true
}

// boundaries begins a part with each event that matches.
type boundaries struct {
	matcher *where.Matcher
	matched bool // for any event
	n       int
}

func (b *boundaries) part(e *ntconv.Event) (int, bool) {
	match := b.matcher.Match(e)
	b.matched = b.matched || match
	if !match && b.n >= 0 {
		return b.n, false
	}
	b.n++
	return b.n, true
}

func (b *boundaries) value() string { return "" }

func (b *boundaries) notes() []string {
	list := b.matcher.Notes()
	if !b.matched {
		list = append(list, "the expression is true for no event")
	}
	return list
}

// cuts divides where another divider has divided.
type cuts struct {
	plain
	at    []int64 // numbers of the first events of the parts
	event int64
	n     int
}

func (c *cuts) part(*ntconv.Event) (int, bool) {
	c.event++
	if c.n < len(c.at) && c.at[c.n] == c.event-1 {
		c.n++
		return c.n - 1, true
	}
	return c.n - 1, false
}

// A processID identifies a process within a trace.
type processID struct {
	host  string
	pid   uint64
	known bool
}

func processOf(t *ntconv.Thread) processID {
	if t == nil || t.Process == nil {
		return processID{}
	}
	return processID{t.Process.Host, t.Process.PID, true}
}

// processes divides by process.
type processes struct {
	numbers map[processID]int
	thread  *ntconv.Thread
	n       int
}

func (p *processes) part(e *ntconv.Event) (int, bool) {
	if e.Thread == p.thread && len(p.numbers) > 0 {
		return p.n, false
	}
	p.thread = e.Thread
	id := processOf(e.Thread)
	n, known := p.numbers[id]
	if !known {
		n = len(p.numbers)
		p.numbers[id] = n
	}
	p.n = n
	return n, !known
}

func (p *processes) value() string {
	if id := processOf(p.thread); id.known {
		if id.host != "" {
			return id.host + "-" + strconv.FormatUint(id.pid, 10)
		}
		return strconv.FormatUint(id.pid, 10)
	}
	return "unknown"
}

func (p *processes) notes() []string { return nil }

// values divides by the values of fields.
type values struct {
	columns *where.Columns
	fields  int
	numbers map[string]int
	threads map[*ntconv.Thread]int // parts of threads, if the values depend only on the thread; else nil
	key     []byte
}

// add appends a value to the key.
func (v *values) add(x ntconv.Value) {
	switch x.Kind() {
	case ntconv.ValueString:
		v.key = x.AppendString(v.key)
	case ntconv.ValueInt:
		v.key = strconv.AppendInt(v.key, x.Int(), 10)
	case ntconv.ValueUint:
		v.key = strconv.AppendUint(v.key, x.Uint(), 10)
	default:
		v.key = append(v.key, x.String()...)
	}
}

// separator separates the values in a key. It is not valid in UTF-8.
const separator = 0xff

func (v *values) part(e *ntconv.Event) (int, bool) {
	if n, known := v.threads[e.Thread]; known {
		return n, false
	}
	n, first := v.read(e)
	if v.threads != nil {
		v.threads[e.Thread] = n
	}
	return n, first
}

// read returns the part of an event by its values.
func (v *values) read(e *ntconv.Event) (int, bool) {
	v.columns.Read(e)
	v.key = v.key[:0]
	for i := range v.fields {
		if i > 0 {
			v.key = append(v.key, separator)
		}
		v.columns.Each(i, v.add)
	}
	n, known := v.numbers[string(v.key)]
	if !known {
		n = len(v.numbers)
		v.numbers[string(v.key)] = n
	}
	return n, !known
}

func (v *values) value() string {
	text := strings.ReplaceAll(string(v.key), string([]byte{separator}), ", ")
	if strings.Trim(text, ", ") == "" {
		return "none"
	}
	return text
}

func (v *values) notes() (list []string) {
	for i := range v.fields {
		if note := v.columns.NoField(i); note != "" && len(v.numbers) == 1 {
			list = append(list, note)
		}
	}
	return list
}
