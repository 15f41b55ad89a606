package scrub

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// AttrScrubbed is the attribute of a scrubbed trace. Its value states the options, and never the key.
const AttrScrubbed = "ntconv.scrubbed"

// Options control a Scrubber.
type Options struct {
	// Key determines the pseudonyms. Traces that are scrubbed with the same key have the same ones. An empty key is
	// replaced by a random one.
	Key []byte
	// Policy is the policy. Nil means the default policy.
	Policy *Policy
	// HashMethods replaces the names of methods, types, modules and assemblies.
	HashMethods bool
	// HashIDs replaces trace and span IDs.
	HashIDs bool
	// Fields are patterns PROVIDER/EVENT.FIELD of fields whose texts and numbers are replaced.
	Fields []string
	// Providers are patterns of providers whose fields are all replaced, texts and numbers.
	Providers []string
	// Drop are patterns of providers whose events are dropped.
	Drop []string
	// Examples is the maximum number of examples per row of the report. Examples contain secrets.
	Examples int
}

// A Scrubber replaces the secrets of traces. It is not safe for concurrent use.
type Scrubber struct {
	opts   Options
	policy *Policy
	tally  *tally
	words  *rewriter
	seen   *names
}

// New returns a Scrubber. It returns an error that wraps ErrPolicy for an invalid pattern of a field.
func New(o Options) (*Scrubber, error) {
	if len(o.Key) == 0 {
		o.Key = make([]byte, KeySize)
		if _, err := rand.Read(o.Key); err != nil {
			return nil, fmt.Errorf("random key: %w", err)
		}
	}
	if o.Policy == nil {
		p, err := NewPolicy(nil, nil)
		if err != nil {
			return nil, err
		}
		o.Policy = p
	}
	p, err := o.Policy.with(&o)
	if err != nil {
		return nil, err
	}
	s := &Scrubber{opts: o, policy: p, words: newRewriter(p, o.Key, o.HashIDs)}
	s.reset()
	return s, nil
}

// allFields is the pattern of Options.Providers. No rule of a policy has it, because they contain a dot.
const allFields = "*"

// with returns a copy of the policy with the options.
func (p *Policy) with(o *Options) (*Policy, error) {
	c := *p
	c.rules = slices.Clip(p.rules)
	var chosen []fieldRule
	for _, f := range o.Fields {
		field, err := newFieldRule(f, classChosen)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
		}
		field.rule = c.addRule(rule{flag: "field", text: f, own: true})
		chosen = append(chosen, field)
	}
	for _, provider := range o.Providers {
		at := c.addRule(rule{flag: "provider-text", text: provider, own: true})
		chosen = append(chosen, fieldRule{provider, allFields, classChosen, at})
	}
	c.fields = append(chosen, p.fields...)
	c.dropped = nil
	for _, provider := range o.Drop {
		c.dropped = append(c.dropped, dropRule{provider, c.addRule(rule{flag: "drop-provider", text: provider, own: true})})
	}
	c.dropped = append(c.dropped, p.dropped...)
	c.used = make([]bool, len(c.rules))
	if o.HashMethods {
		c.classes = make(map[string]*class, len(p.classes))
		for name, old := range p.classes {
			c.classes[name] = old
		}
		for _, name := range []string{classMethod, classVersion} { // versions of modules contain their names
			hashed := *p.classes[name]
			if hashed.action == actionKeep {
				hashed.action = actionHash
			}
			c.classes[name] = &hashed
		}
		if p.classes[classPattern].action == actionReplace { // patterns of names match their pseudonyms
			pattern := *c.classes[classMethod]
			pattern.name, pattern.index = classPattern, p.classes[classPattern].index
			c.classes[classPattern] = &pattern
		}
	}
	return &c, nil
}

func (s *Scrubber) reset() {
	s.tally = &tally{policy: s.policy, examples: s.opts.Examples}
	s.seen = newNames(len(s.opts.Fields) > 0)
}

// DropsEvents reports whether events may be dropped.
func (s *Scrubber) DropsEvents() bool { return s.policy.Drops() }

// Source returns a source with the events of src, without their secrets. The counts of the Scrubber start again from
// zero. The source reads src and must not be used concurrently with it or with another source of the Scrubber.
func (s *Scrubber) Source(src ntconv.Source) ntconv.Source {
	s.reset()
	out := &source{
		src: src, words: s.words, tally: s.tally, policy: s.policy,
		planner: planner{s.policy, &s.tally.sites, make(map[string][]fieldRule), s.seen},
		plans:   make(map[planKey]*plan),
	}
	out.walker.rewriter, out.walker.tally = s.words, s.tally
	out.model = newModel(s.words, s.tally)
	out.info = out.model.info(src.Info(), s.state())
	return out
}

// state describes the options, for AttrScrubbed.
func (s *Scrubber) state() string {
	methods, ids := actionNames[s.policy.class(classMethod).action], "keep"
	if s.opts.HashIDs {
		ids = "hash"
	}
	return "methods=" + methods + " ids=" + ids
}

// A Result counts what a Scrubber did since the last call of Source.
type Result struct {
	Texts   int64 `json:"texts"`   // texts and fields of bytes
	Changed int64 `json:"changed"` // of them
	Dropped int64 `json:"dropped"` // events
	Rows    []Row `json:"rows"`    // by place and class, those with the most changes first
	// Unmatched are the rules of policy files that matched nothing, with file and line.
	Unmatched []string `json:"unmatched,omitempty"`
}

// Result returns the counts.
func (s *Scrubber) Result() Result {
	return Result{
		Texts: s.tally.texts, Changed: s.tally.changed, Dropped: s.tally.dropped, Rows: s.tally.rows(),
		Unmatched: s.unmatched(),
	}
}

// A planKey identifies a plan: the type, the version, which a label may state, and the size of a pointer, which differs
// between processes.
type planKey struct {
	typ     *ntconv.Type
	version uint8
	ptr     int
}

// A source is a source without secrets.
type source struct {
	src     ntconv.Source
	info    *ntconv.Info
	policy  *Policy
	words   *rewriter
	tally   *tally
	schemas schema.Table
	planner planner
	plans   map[planKey]*plan
	walker  walker
	model   *model

	lastKey  planKey
	lastPlan *plan
	event    ntconv.Event
	zeros    []byte
	opaque   *site

	open      map[*ntconv.Thread]*held // by capture thread
	heldBytes int
	holds     int64           // number of threads whose parts were held so far
	queue     []*ntconv.Event // to deliver before the next event of src
	err       error           // of src
	divided   *site
	lastType  *ntconv.Type // the latest type of begin, and its role
	lastRole  role
}

// Info implements ntconv.Source.
func (s *source) Info() *ntconv.Info { return s.info }

// Next implements ntconv.Source.
func (s *source) Next() (*ntconv.Event, error) {
	for {
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			return e, nil
		}
		if s.err != nil {
			return nil, s.err
		}
		e, err := s.src.Next()
		if err != nil {
			s.err = err
			s.releaseAll()
			continue
		}
		if s.begin(e) && s.replace(e) {
			return &s.event, nil
		}
	}
}

// replace sets s.event to e without its secrets. It returns false for an event to drop.
func (s *source) replace(e *ntconv.Event) bool {
	s.event = *e
	out := &s.event
	if e.Type != nil {
		if e.Kind == ntconv.KindEvent {
			p := s.plan(e)
			if p.dropped {
				s.tally.dropped++
				return false
			}
			out.Payload = s.walker.payload(p, e.Payload)
		} else if s.policy.drops(e.Type.Provider) {
			return false
		}
		out.Type = s.model.typ(e.Type)
	}
	if e.Thread != nil {
		out.Thread = s.model.thread(e.Thread)
	}
	if e.Capture != nil {
		out.Capture = s.model.thread(e.Capture)
	}
	if e.Stack != nil && len(e.Stack.Frames) > 0 {
		out.Stack = s.model.stack(e.Stack)
	}
	if e.Labels != nil {
		out.Labels = s.model.labels(e.Labels)
	}
	if e.Kind == ntconv.KindMark {
		out.Mark = s.model.mark(e.Mark)
	}
	if len(e.Payload) > 0 && (e.Kind != ntconv.KindEvent || e.Type == nil) {
		out.Payload = s.block(e.Payload)
	}
	return true
}

// plan returns the plan for the payload of an event.
func (s *source) plan(e *ntconv.Event) *plan {
	k := planKey{e.Type, e.Version(), e.PointerSize()}
	if k == s.lastKey && s.lastPlan != nil {
		return s.lastPlan
	}
	p := s.plans[k]
	if p == nil {
		p = s.planner.plan(s.schemas.Of(e), e.Type, k.ptr)
		s.plans[k] = p
	}
	s.lastKey, s.lastPlan = k, p
	return p
}

// block returns the replacement of a block of unknown kind, or of a payload without a type.
func (s *source) block(b []byte) []byte {
	c := s.policy.class(classUndecoded)
	if s.opaque == nil {
		s.opaque = s.planner.site("", "", "blocks of unknown kind")
	}
	s.tally.count(s.opaque, c, c.action != actionKeep)
	if c.action == actionKeep {
		return b
	}
	s.zeros = append(s.zeros[:0], make([]byte, len(b))...)
	return s.zeros
}
