package meters

import (
	"encoding/binary"
	"hash/maphash"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// requestSpecs returns the kind of HTTP requests.
func requestSpecs() []Spec {
	return []Spec{
		{
			Kind:    sample.Requests,
			Columns: []Column{counted("requests"), nanos("duration")},
			main:    1,
			Tags:    []string{LabelSide, LabelMethod, LabelRoute, LabelHost, LabelStatus, LabelRequest},
			Subject: 5,
			leaf:    true,
			crosses: true,
			Bare:    true, // a server receives requests on threads that run no code of the program
			Meter:   newRequestMeter,
		},
	}
}

// A requestSource is an event source that reports HTTP requests.
type requestSource uint8

const (
	requestHosting requestSource = iota // the server, as the hosting layer of ASP.NET Core sees it
	requestKestrel                      // the server, as the web server sees it
	requestClient
	numRequestSources
)

var requestProviders = [numRequestSources]string{
	"Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel", "System.Net.Http",
}

// A requestMeter pairs the start and the stop of HTTP requests by their activity. Without activities (the trace needs
// System.Threading.Tasks.TplEventSource with the keyword 0x80), it pairs requests of Kestrel by their IDs. Other
// requests end with the latest one of the thread, or else with the only open one.
//
// Kestrel and the hosting layer both report a request of a server: the hosting layer first, and Kestrel next on the
// same thread. The events of Kestrel then belong to the sample of the hosting layer.
type requestMeter struct {
	c       *Collector
	open    [numRequestSources]openIntervals[request]
	inner   openIntervals[intervalKey]     // requests of Kestrel that belong to one of the hosting layer, with its key
	hosted  map[*ntconv.Thread]intervalKey // the latest request of the hosting layer that began on a thread
	seed    maphash.Seed
	strings map[string]string
	buffer  []byte
}

// A request is what the events of a request state.
type request struct {
	method, route, host string
	failed              bool
}

const (
	requestStart  uint8 = 1 // plus the requestSource
	requestStop         = RoleEnds
	requestFailed       = RoleEnds + uint8(numRequestSources)
)

// Positions of the fields of the events of all sources.
const (
	requestMethod = iota
	requestPath
	requestHost
	requestPort
	requestID
	requestStatus
)

func newRequestMeter(c *Collector) meter {
	m := &requestMeter{
		c: c, hosted: map[*ntconv.Thread]intervalKey{}, seed: maphash.MakeSeed(), strings: map[string]string{},
		inner: newOpenIntervals[intervalKey](c),
	}
	for i := range m.open {
		m.open[i] = newOpenIntervals[request](c)
	}
	return m
}

func (m *requestMeter) input(s *schema.Schema) (uint8, []string) {
	fields := []string{"method", "path", "host", "port", "requestId", "statusCode"}
	for i, provider := range requestProviders {
		if s.Provider != provider {
			continue
		}
		switch {
		case isRequest(s.EndedBy()):
			return requestStart + uint8(i), fields
		case isRequest(s.Ends()):
			return requestStop + uint8(i), fields
		case s.Name == "RequestFailed" || s.Name == "UnhandledException":
			return requestFailed + uint8(i), fields
		}
	}
	return 0, nil
}

// isRequest reports whether a pair is that of a whole request.
func isRequest(pairs []*schema.Pair) bool { return len(pairs) == 1 && pairs[0].Name == "Request" }

func (m *requestMeter) see(r *reading) {
	switch {
	case r.role < RoleEnds:
		m.start(r, requestSource(r.role-requestStart))
	case r.role < requestFailed:
		m.stop(r, requestSource(r.role-requestStop))
	default:
		if i := m.find(r, requestSource(r.role-requestFailed)); i != nil {
			i.Data.data.failed = true
			m.c.involve(i.Data.Place)
		}
	}
}

func (m *requestMeter) start(r *reading, source requestSource) {
	key := m.keyOf(r)
	if source == requestKestrel {
		outer, ok := m.hosted[r.Thread]
		delete(m.hosted, r.Thread)
		if i := m.open[requestHosting].Latest(outer); ok && i != nil {
			m.c.involve(i.Data.Place)
			m.inner.begin(r, key, outer)
			return
		}
	}
	q := request{method: m.text(r.fields[requestMethod]), route: m.text(r.fields[requestPath])}
	if host := r.fields[requestHost]; host.Kind() == ntconv.ValueString {
		q.host = m.hostOf(host, r.fields[requestPort])
	}
	m.open[source].begin(r, key, q)
	if source == requestHosting {
		m.hosted[r.Thread] = key
	}
}

func (m *requestMeter) stop(r *reading, source requestSource) {
	if source == requestKestrel {
		if i := m.inner.Latest(m.keyOf(r)); i != nil {
			if outer := m.open[requestHosting].Latest(i.Data.data); outer != nil {
				m.c.involve(outer.Data.Place)
			}
			m.inner.release(i)
			return
		}
	}
	i := m.find(r, source)
	if i == nil {
		m.c.unmatched()
		return
	}
	m.open[source].end(i.Key)
	nanos, ok := m.c.elapsed(i.Data.Place, r.Time)
	if !ok {
		return
	}
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, nanos
	if o.tag(0, "server"); source == requestClient {
		o.tag(0, "client")
	}
	o.tag(1, i.Data.data.method)
	o.tag(2, i.Data.data.route)
	o.tag(3, i.Data.data.host)
	if status := r.fields[requestStatus]; status.Kind() == ntconv.ValueInt && status.Int() > 0 {
		o.Tags[4] = strconv.AppendInt(o.Tags[4], status.Int(), 10)
	} else if i.Data.data.failed || status.Kind() == ntconv.ValueInt {
		o.tag(4, "failed")
	}
	o.Tags[5] = i.Data.data.appendName(o.Tags[5])
	m.c.emit(i.Data.Place, r.Time)
}

// appendName appends the method and the route of a request, or else the host that it is sent to.
func (q *request) appendName(dst []byte) []byte {
	name := q.route
	if q.host != "" {
		name = q.host
	}
	if q.method != "" && name != "" {
		dst = append(append(dst, q.method...), ' ')
	}
	return append(dst, name...)
}

// find returns the open request to which an event belongs, or nil.
func (m *requestMeter) find(r *reading, source requestSource) *openInterval[request] {
	open, key := &m.open[source], m.keyOf(r)
	if i := open.Latest(key); i != nil || key.thread == nil {
		return i
	}
	if i := open.Oldest(); i != nil && open.Len() == 1 && i.Key.thread != nil && i.Key.process == key.process {
		return i
	}
	return nil
}

// keyOf returns what the events of a request have in common.
func (m *requestMeter) keyOf(r *reading) intervalKey {
	if id, ok := r.Labels.ID(ntconv.LabelActivityID); ok && id != (ntconv.GUID{}) {
		k := intervalKeyOf(r.Event, binary.LittleEndian.Uint64(id[:])).shared()
		k.high = binary.LittleEndian.Uint64(id[8:])
		return k
	}
	if id := r.fields[requestID]; id.Kind() == ntconv.ValueString {
		m.buffer = id.AppendString(m.buffer[:0])
		return intervalKeyOf(r.Event, maphash.Bytes(m.seed, m.buffer)).shared()
	}
	return intervalKeyOf(r.Event, 0)
}

// text returns a value as a string that is shared with equal values.
func (m *requestMeter) text(v ntconv.Value) string {
	m.buffer = v.AppendString(m.buffer[:0])
	return m.shared()
}

// hostOf returns the host and the port of a server.
func (m *requestMeter) hostOf(host, port ntconv.Value) string {
	m.buffer = host.AppendString(m.buffer[:0])
	if port.Kind() == ntconv.ValueInt && port.Int() > 0 {
		m.buffer = strconv.AppendInt(append(m.buffer, ':'), port.Int(), 10)
	}
	return m.shared()
}

// shared returns the buffer as a string that is shared with equal strings.
func (m *requestMeter) shared() string {
	s, ok := m.strings[string(m.buffer)]
	if !ok {
		s = string(m.buffer)
		m.strings[s] = s
	}
	return s
}

// Lost implements meter.
func (m *requestMeter) lost(capture *ntconv.Thread) { m.end(capture, cutLoss) }

// Removed implements meter.
func (m *requestMeter) removed(list []ntconv.ThreadSeq) {
	for i := range list {
		m.end(list[i].Thread, cutEdge)
		delete(m.hosted, list[i].Thread)
	}
}

// End discards the requests that are paired by a thread.
func (m *requestMeter) end(t *ntconv.Thread, reason cutReason) {
	for i := range m.open {
		m.open[i].discardThread(t, reason)
	}
	for i := m.inner.OnThread(t); i != nil; i = m.inner.OnThread(t) {
		m.inner.release(i)
	}
}

// Finish implements meter.
func (m *requestMeter) finish() {
	for i := range m.open {
		m.open[i].finish()
	}
	for m.inner.Oldest() != nil {
		m.inner.release(m.inner.Oldest())
	}
}
