package otlp

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/sample"
)

// A profiler adds up the samples of a trace, until the sink is closed: symbols come last.
type profiler struct {
	info    *ntconv.Info
	build   *profile.Builder
	decoder *stored.Decoder[profiles.Profile]
	stored  map[storedProfile]*profiles.Profile
	bytes   int // of the payloads in stored
	// restored is the number of those in stored that have samples.
	restored int

	// State of unlinked: the latest labels, and these without those of a link.
	linked, plain *ntconv.Labels
	event         ntconv.Event
}

// A storedProfile identifies an imported profile.
type storedProfile struct {
	process *ntconv.Process
	number  uint64
}

// maxPayloads is the maximum size of the original payloads that are kept, in bytes. Others are omitted.
const maxPayloads = 256 << 20

// newProfiler returns the profiler, nil if profiles are not written.
func (s *Sink) newProfiler(info *ntconv.Info) *profiler {
	if !s.o.Signals.Has(Profiles) {
		return nil
	}
	o := s.o.Profiles
	o.Kind, o.Create, o.Report = sample.Auto, nil, s.o.Report
	o.Each = append([]sample.Kind{}, o.Each...)
	p := &profiler{
		info: info, build: profile.New(info, s.namer, &o), decoder: stored.NewDecoder(profiles.Stored, s.o.Report),
		stored: make(map[storedProfile]*profiles.Profile),
	}
	p.build.Separate()
	return p
}

// unlinked returns e without the labels of a sample that was linked to a span, which are not part of the trace. The result
// is valid until the next call.
func (p *profiler) unlinked(e *ntconv.Event) *ntconv.Event {
	if e.Labels == nil {
		return e
	}
	if e.Labels != p.linked {
		p.linked, p.plain = e.Labels, active.Unlinked(e.Labels)
	}
	if p.plain == e.Labels {
		return e
	}
	p.event = *e
	p.event.Labels = p.plain
	return &p.event
}

// add adds an event.
func (p *profiler) add(e *ntconv.Event, report *ntconv.Report) {
	if e.Kind != ntconv.KindEvent || !profiles.Stored.Has(e.Type) {
		p.build.Add(e)
		return
	}
	v, ok := p.decoder.Decode(e)
	if !ok {
		return
	}
	own := *v
	own.Attributes = append([]span.Attribute{}, v.Attributes...)
	if p.bytes += len(own.Payload); p.bytes > maxPayloads {
		p.bytes -= len(own.Payload)
		own.PayloadFormat, own.Payload = "", ""
		report.Note(ntconv.CodeNotCarried, 1, e.Offset, "original payloads of profiles beyond 256 MiB")
	}
	p.stored[storedProfile{own.Process, own.Number}] = &own
}

// writeProfiles sends the profiles of all kinds. Call it after the last event.
func (s *Sink) writeProfiles() {
	s.profiler.decoder.Finish()
	for p := range s.profiler.build.FinishEach() {
		s.addProfile(p)
	}
	if n := len(s.profiler.stored) - s.profiler.restored; n > 0 {
		s.o.Report.Note(ntconv.CodeNotCarried, uint64(n), -1, "imported profiles without samples")
	}
}

// profileScope is the scope of profiles that are computed from events.
var profileScope = &span.Scope{Name: "ntconv"}

// A profileOrigin has the heads of the profiles of a source, one per sample type, and what recorded them.
type profileOrigin struct {
	heads  []*profileHead
	from   origin
	stored *profiles.Profile
}

// addProfile sends a profile of one kind as one profile per process and sample type, and for kind Imported per imported
// profile.
func (s *Sink) addProfile(p *profile.Profile) {
	type key struct {
		process *ntconv.Process
		source  int
	}
	restored := len(p.Adopted) > 0
	origins := make(map[key]*profileOrigin)
	for x := range p.Samples() {
		k := key{x.Process, x.Source}
		o := origins[k]
		if o == nil {
			o = s.profileOrigin(p, x)
			if len(origins) == 0 && o.stored == nil {
				s.addOriginal(p, o)
			}
			origins[k] = o
		}
		if !s.putSample(x, o, restored) {
			break
		}
	}
	var comments []string
	if !restored {
		comments = p.Comments()
	}
	s.comment(comments)
}

// addOriginal adds the payload of a kind to the profile with its main sample type.
func (s *Sink) addOriginal(p *profile.Profile, o *profileOrigin) {
	if s.o.Original == nil || len(o.heads) == 0 {
		return
	}
	format, payload := s.o.Original(p.Kind)
	if len(payload) > s.o.BatchBytes/2 && s.uploader != nil {
		s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "original payloads of more than half a batch")
		return
	}
	h := o.heads[min(p.Main, len(o.heads)-1)]
	h.format, h.payload = format, payload
}

// comment adds comments on the profiles of a kind, which are known after its last sample, to those of its parts that have
// not been sent.
func (s *Sink) comment(comments []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.streams[Profiles].batch
	if b == nil || b.profiles == nil {
		return
	}
	for _, p := range b.profiles.parts {
		if !p.commented {
			p.comments = commentsAttribute(comments)
		}
		p.commented = true
	}
}

// putSample adds a sample to the batch. It returns false if the delivery has failed.
func (s *Sink) putSample(x *profile.Sample, o *profileOrigin, restored bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.streams[Profiles]
	if s.delivery.failed.Load() || !s.hasBatch(Profiles) {
		return false
	}
	b := st.batch
	if b.profiles == nil {
		b.profiles = newProfileBatch()
	}
	b.profiles.tables.SetVerbatim(restored)
	at := s.pathOf(o.from)
	b.profiles.add(x, o.heads, at, restored, func() {
		st.items++
		if p := at[0].process; p != nil {
			p.items++
		}
	})
	b.size = b.profiles.total()
	if b.size >= s.profileBytes { // BatchItems would divide the profiles of a machine with many processes
		s.send(Profiles)
	}
	return true
}

// profileOrigin returns the heads of the profiles that a sample is the first of.
func (s *Sink) profileOrigin(p *profile.Profile, x *profile.Sample) *profileOrigin {
	o := &profileOrigin{from: origin{process: x.Process, scope: profileScope}}
	if len(p.Adopted) == 0 {
		start, duration := p.Recorded(s.profiler.info)
		for _, t := range p.Types {
			o.heads = append(o.heads, &profileHead{
				typ: t, periodType: p.PeriodType, period: p.Period, time: start, duration: duration, hashed: true,
				attributes: []span.Attribute{{Key: attrKind, Value: span.String(p.Kind.String())}},
			})
		}
		return o
	}
	t := p.Adopted[x.Source]
	from := imported.Of(t)
	head := profileHead{
		periodType: from.PeriodType, period: from.Period, time: uint64(from.Time), duration: uint64(from.Duration), hashed: true,
		attributes: originAttributes(from),
	}
	if v := s.profiler.stored[storedProfile{x.Process, profiles.NumberOf(t)}]; v != nil && profiles.NumberOf(t) > 0 {
		s.profiler.restored++
		o.stored = v
		o.from.resource, o.from.scope = v.Resource, v.Scope
		head.id, head.hashed = v.ID, false
		head.attributes, head.dropped = v.Attributes, v.DroppedAttributes
		head.format, head.payload = v.PayloadFormat, v.Payload
	}
	o.heads = make([]*profileHead, len(p.Types))
	for i := range o.heads { // other columns have no values of this source
		own := head
		own.typ = p.Types[i]
		o.heads[i] = &own
	}
	return o
}

// originAttributes returns the attributes of a profile that was imported from another format.
func originAttributes(o *imported.Origin) []span.Attribute {
	list := commentsAttribute(o.Comments)
	for _, a := range [...][2]string{{profiles.AttrDocURL, o.DocURL}, {profiles.AttrDropFrames, o.DropFrames}, {profiles.AttrKeepFrames, o.KeepFrames}} {
		if a[1] != "" {
			list = append(list, span.Attribute{Key: a[0], Value: span.String(a[1])})
		}
	}
	return list
}

func commentsAttribute(comments []string) []span.Attribute {
	if len(comments) == 0 {
		return nil
	}
	var list []span.Value
	for _, c := range comments {
		list = append(list, span.String(c))
	}
	return []span.Attribute{{Key: profiles.AttrComment, Value: span.Array(list)}}
}
