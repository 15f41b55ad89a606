package profile_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// httpTypes are the types of the events of requests, by short names: H and K begin a request of the hosting layer and
// of Kestrel, h and k end it, C and c are those of a client.
func httpTypes() map[byte]*ntconv.Type {
	const host, kestrel, client = "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel", "System.Net.Http"
	str := ntconv.TypeUTF16String
	id, path := field("requestId", str), field("path", str)
	return map[byte]*ntconv.Type{
		'H': sourceType(host, "RequestStart", 3, field("method", str), path),
		'h': sourceType(host, "RequestStop", 4),
		'K': sourceType(kestrel, "RequestStart", 3, id, path, field("method", str)),
		'k': sourceType(kestrel, "RequestStop", 4, id, path, field("method", str)),
		'C': sourceType(client, "RequestStart", 1, field("scheme", str), field("host", str)),
		'c': sourceType(client, "RequestStop", 2, field("statusCode", ntconv.TypeInt32)),
	}
}

// An httpStep is an event 1 µs after the previous one. Events with an equal activity belong together; 0 is none.
type httpStep struct {
	name     byte
	thread   int
	activity byte
	id       string
}

func (s *httpStep) payload() []byte {
	switch s.name {
	case 'H':
		return fields("GET", "/"+s.id)
	case 'K', 'k':
		return fields(s.id, "/"+s.id, "GET")
	case 'C':
		return fields("http", s.id)
	case 'c':
		return fields(int32(204))
	}
	return nil
}

// A request is one sample, whichever of its sources the trace has and however its events are paired.
func TestRequests(t *testing.T) {
	const a, b = " side=server method=GET route=/a request=GET /a", " side=server method=GET route=/b request=GET /b"
	for _, c := range []struct {
		name     string
		steps    []httpStep
		selected string // names of selected events; all if empty
		want     []string
		unpaired uint64
	}{
		{"by activity on other threads", []httpStep{{'H', 0, 1, "a"}, {'H', 0, 2, "b"}, {'h', 1, 1, ""}, {'h', 2, 2, ""}}, "",
			[]string{"[1 2000]" + a, "[1 2000]" + b}, 0},
		{"both sources", []httpStep{{'H', 0, 1, "a"}, {'K', 0, 2, "a"}, {'k', 1, 2, "a"}, {'h', 1, 1, ""}}, "", []string{"[1 3000]" + a}, 0},
		{"both sources, one is selected", []httpStep{{'H', 0, 1, "a"}, {'K', 0, 2, "a"}, {'k', 1, 2, "a"}, {'h', 1, 1, ""}}, "K",
			[]string{"[1 3000]" + a}, 0},
		{"both sources, its end is selected", []httpStep{{'H', 0, 1, "a"}, {'K', 0, 2, "a"}, {'k', 1, 2, "a"}, {'h', 1, 1, ""}}, "k",
			[]string{"[1 3000]" + a}, 0},
		{"both sources, not complete", []httpStep{{'H', 0, 1, "a"}, {'K', 0, 2, "a"}}, "", nil, 1},
		{"Kestrel without activities", []httpStep{{'K', 0, 0, "a"}, {'K', 0, 0, "b"}, {'k', 1, 0, "a"}, {'k', 1, 0, "b"}}, "",
			[]string{"[1 2000]" + a, "[1 2000]" + b}, 0},
		{"by thread", []httpStep{{'H', 0, 0, "a"}, {'H', 1, 0, "b"}, {'h', 0, 0, ""}, {'h', 1, 0, ""}}, "",
			[]string{"[1 2000]" + a, "[1 2000]" + b}, 0},
		{"the only one", []httpStep{{'H', 0, 0, "a"}, {'h', 1, 0, ""}}, "", []string{"[1 1000]" + a}, 0},
		{"which one is unknown", []httpStep{{'H', 0, 0, "a"}, {'H', 1, 0, "b"}, {'h', 2, 0, ""}}, "", nil, 3},
		{"of client and server", []httpStep{{'C', 0, 1, "x"}, {'H', 1, 2, "a"}, {'h', 1, 2, ""}, {'c', 2, 1, ""}}, "",
			[]string{"[1 3000] side=client host=x status=204 request=x", "[1 1000]" + a}, 0},
		{"the request before is still open", []httpStep{{'H', 0, 1, "b"}, {'h', 1, 1, ""}, {'K', 0, 2, "a"}, {'k', 1, 2, "a"}}, "",
			[]string{"[1 1000]" + b, "[1 1000]" + a}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			types, report, p := httpTypes(), new(ntconv.Report), newPlayer()
			b := profile.New(testInfo(), nil, &profile.Options{Kind: sample.Requests, DropLabels: []string{"tid"}, Report: report})
			for _, s := range c.steps {
				p.labels = nil
				if s.activity != 0 {
					p.labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelActivityID, ID: [16]byte{s.activity}}})
				}
				e := p.event(&step{types[s.name], s.thread, s.payload(), false})
				b.Watch(e)
				if c.selected == "" || c.selected == string(s.name) {
					b.Add(e)
				}
			}
			got := samplesOf(b.Finish())
			slices.Sort(got)
			slices.Sort(c.want)
			if n := report.Count(ntconv.CodeUnpaired); !slices.Equal(got, c.want) || n != c.unpaired {
				t.Errorf("%q, want %q; %d unpaired, want %d", got, c.want, n, c.unpaired)
			}
		})
	}
}
