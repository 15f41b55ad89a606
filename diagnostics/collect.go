package diagnostics

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Rundown keywords: which descriptions of methods and modules the runtime appends when a session ends. The reader of the
// trace needs them to resolve the addresses of code that was compiled before the session. 0 means no rundown.
const (
	// DefaultRundown has everything that dotnet-trace records: garbage collector, loader, JIT, NGen, IL maps.
	DefaultRundown uint64 = 0x80020139
	// NamesRundown is DefaultRundown without the maps from native code to IL, which names do not need.
	NamesRundown uint64 = 0x80000139
)

// DefaultBufferMB is the size of the buffer that a session has in the process, in MiB.
const DefaultBufferMB = 256

// Limits of a session in the runtime.
const (
	maxProviders = 1000
	maxLevel     = 5
)

// A Format is the format of the stream of a session.
type Format uint8

// Formats that .NET writes over the diagnostic protocol. No .NET up to 11 writes nettrace 5 or 6 there.
const (
	NetTrace Format = iota // nettrace 4
	NetPerf                // netperf 3, the format of .NET Core 2.1
)

// wire returns the number of a format in requests.
func (f Format) wire() uint32 {
	if f == NetPerf {
		return 0
	}
	return 1
}

// A Config says what a session records.
type Config struct {
	// BufferMB is the maximum size of the buffer in the process, in MiB; 0 means DefaultBufferMB. If it is full, the
	// process drops events, or blocks its threads with Block.
	BufferMB int
	// Format is NetTrace by default.
	Format Format
	// RundownKeywords is 0 for no rundown; see DefaultRundown and NamesRundown.
	RundownKeywords uint64
	// NoStacks omits the stacks of all events.
	NoStacks bool
	// Block makes threads of the process wait when the buffer is full, from .NET 11. Older runtimes would drop events
	// instead, so Collect returns ErrUnknownCommand for them.
	Block bool
	// Providers are the sources of events, at least one. A provider that appears twice is merged.
	Providers []Provider
}

// A Provider is a source of events of a session.
type Provider struct {
	Name      string // case-sensitive
	Keywords  uint64 // groups of events; 0 selects only events without keywords
	Level     uint8  // 0 always, 1 critical, 2 error, 3 warning, 4 informational, 5 verbose
	Arguments string // key=value pairs separated by semicolons, for providers that have arguments
	// Events selects events by ID, from .NET 10, among those that Keywords and Level select. If it is empty, all are
	// selected. Older runtimes record all events and Session.Unfiltered is set.
	Events []uint32
	// ExcludeEvents means that Events are the events that are not selected.
	ExcludeEvents bool
}

// plan returns the normalized form of a Config, which has each provider once.
func (c Config) plan() (Config, error) {
	if c.BufferMB == 0 {
		c.BufferMB = DefaultBufferMB
	}
	switch {
	case c.BufferMB < 0 || uint64(c.BufferMB) > 1<<32-1:
		return c, fmt.Errorf("%w: buffer of %d MiB", ErrRequest, c.BufferMB)
	case c.Format > NetPerf:
		return c, fmt.Errorf("%w: format %d", ErrRequest, c.Format)
	case len(c.Providers) == 0:
		return c, fmt.Errorf("%w: a session needs a provider", ErrRequest)
	}
	var merged []Provider
	for _, p := range c.Providers {
		if p.Name == "" {
			return c, fmt.Errorf("%w: a provider without a name", ErrRequest)
		}
		if p.Level > maxLevel {
			return c, fmt.Errorf("%w: level %d of provider %s, want at most %d", ErrRequest, p.Level, p.Name, maxLevel)
		}
		i := slices.IndexFunc(merged, func(m Provider) bool { return m.Name == p.Name })
		if i < 0 {
			merged = append(merged, p)
			continue
		}
		m, err := merged[i].merge(p)
		if err != nil {
			return c, err
		}
		merged[i] = m
	}
	if len(merged) > maxProviders {
		return c, fmt.Errorf("%w: %d providers, limit %d", ErrTooLarge, len(merged), maxProviders)
	}
	c.Providers = merged
	return c, nil
}

// merge returns a provider that selects the events of both p and q, and perhaps more: the keywords of one with the level
// of the other.
func (p Provider) merge(q Provider) (Provider, error) {
	if p.Arguments != "" && q.Arguments != "" && p.Arguments != q.Arguments {
		return p, fmt.Errorf("%w: provider %s appears twice with different arguments: %q and %q", ErrRequest, p.Name, p.Arguments, q.Arguments)
	}
	without := func(list, remove []uint32) []uint32 {
		return slices.DeleteFunc(slices.Clone(list), func(id uint32) bool { return slices.Contains(remove, id) })
	}
	p.Keywords |= q.Keywords
	p.Level = max(p.Level, q.Level)
	p.Arguments = cmp.Or(p.Arguments, q.Arguments)
	switch {
	case len(p.Events) == 0 || len(q.Events) == 0: // one of them selects all events
		p.Events, p.ExcludeEvents = nil, false
	case !p.ExcludeEvents && !q.ExcludeEvents:
		p.Events = append(slices.Clone(p.Events), without(q.Events, p.Events)...)
	case p.ExcludeEvents && q.ExcludeEvents: // excluded by both
		p.Events = without(p.Events, without(p.Events, q.Events))
	case p.ExcludeEvents:
		p.Events = without(p.Events, q.Events)
	default:
		p.Events, p.ExcludeEvents = without(q.Events, p.Events), true
	}
	return p, nil
}

// isFiltered reports whether a provider has a filter of events.
func (p *Provider) isFiltered() bool { return len(p.Events) > 0 }

// lowest returns the number of the oldest CollectTracing command that can express a Config. The command 1 is never
// needed: it has a rundown always.
func (c *Config) lowest() int {
	switch {
	case c.Block:
		return 6
	case slices.ContainsFunc(c.Providers, func(p Provider) bool { return p.isFiltered() }):
		return 5
	case c.RundownKeywords != 0 && c.RundownKeywords != DefaultRundown:
		return 4
	case c.NoStacks:
		return 3
	}
	return 2
}

// request returns the request of the command CollectTracing n.
func (c *Config) request(n int) *request {
	r := newRequest(collectTracing(n))
	if n >= 5 {
		r.uint32(0) // type of the session: streaming
	}
	r.uint32(uint32(c.BufferMB))
	r.uint32(c.Format.wire())
	switch {
	case n >= 4:
		r.uint64(c.RundownKeywords)
	case n >= 2:
		r.bool(c.RundownKeywords != 0)
	}
	if n >= 3 {
		r.bool(!c.NoStacks)
	}
	r.uint32(uint32(len(c.Providers)))
	for i := range c.Providers {
		c.Providers[i].append(r, n >= 5)
	}
	if n >= 6 {
		mode := uint32(0)
		if c.Block {
			mode = 1
		}
		r.uint32(mode)
	}
	return r
}

// append appends a provider. A filter is bool enable and an array of IDs: enable selects only these events; without it,
// these are excluded.
func (p *Provider) append(r *request, filter bool) {
	r.uint64(p.Keywords)
	r.uint32(uint32(p.Level))
	r.text("the name of a provider", p.Name)
	r.text("the arguments of provider "+p.Name, p.Arguments)
	if filter {
		r.bool(p.isFiltered() && !p.ExcludeEvents)
		r.ids("the events of provider "+p.Name, p.Events)
	}
}

// Collect starts a session. ctx is for the request only; Session.Stop ends the session.
//
// Collect sends the oldest CollectTracing command that can express the Config. If the runtime does not know it, Collect
// omits what needs the command, as the fields of Session report, and sends the next older one. Events before and rundown
// at the start do not exist: methods that were compiled before the session are described at its end.
func (c *Client) Collect(ctx context.Context, config Config) (*Session, error) {
	config, err := config.plan()
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, answered: make(chan struct{})}
	for s.command = config.lowest(); ; {
		err := c.collect(ctx, s, config.request(s.command))
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, ErrUnknownCommand) || !s.reduce(&config) {
			return nil, err
		}
	}
}

// reduce removes from a Config what needs the command of the session, notes it in the session, and selects the next
// command. It returns false if nothing can be removed.
func (s *Session) reduce(c *Config) bool {
	switch s.command {
	case 5:
		s.Unfiltered = true
		c.Providers = slices.Clone(c.Providers)
		for i := range c.Providers {
			c.Providers[i].Events, c.Providers[i].ExcludeEvents = nil, false
		}
	case 4:
		s.RundownChanged = true
		c.RundownKeywords = DefaultRundown
	case 3:
		s.StacksAdded = true
		c.NoStacks = false
	case 2:
		s.RundownChanged = s.RundownChanged || c.RundownKeywords == 0
		s.command = 1
		return true
	default:
		return false
	}
	s.command = c.lowest()
	return true
}

// collect sends a request for a session and stores its connection in s.
func (c *Client) collect(ctx context.Context, s *Session, r *request) error {
	x, err := c.start(ctx, r)
	if err != nil {
		return err
	}
	payload, err := readAnswer(x, r.command)
	if err == nil && len(payload) < 8 {
		err = fmt.Errorf("%w: session ID of %d bytes", ErrProtocol, len(payload))
	}
	if err != nil {
		return x.end(err)
	}
	s.id = binary.LittleEndian.Uint64(payload)
	if s.id == 0 {
		return x.end(fmt.Errorf("%w: session ID 0", ErrProtocol))
	}
	s.conn, err = x.release()
	return err
}
