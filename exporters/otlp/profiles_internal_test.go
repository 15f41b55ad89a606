package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// A profilesJSON has the members of ProfilesData that the tests read. Package e2e reads all of them with the collector's
// library.
type profilesJSON struct {
	ResourceProfiles []struct {
		ScopeProfiles []struct {
			Profiles []struct {
				ProfileID  string
				SampleType struct{ TypeStrindex int }
				Samples    []struct {
					StackIndex       int
					AttributeIndices []int
					Values           []string
				}
				OriginalPayload string
			}
		}
	}
	Dictionary struct {
		StringTable   []string
		StackTable    []struct{ LocationIndices []int }
		LocationTable []struct {
			Lines []struct{ FunctionIndex int }
		}
		FunctionTable  []struct{ NameStrindex int }
		AttributeTable []struct {
			KeyStrindex int
			Value       struct{ StringValue, IntValue string }
		}
	}
}

// add adds the values of the samples of a request by sample type, names of the stack and attributes. It returns the
// number of profiles.
func (p *profilesJSON) add(t testing.TB, totals map[string]int64, ids map[string]bool) (n int) {
	t.Helper()
	d := &p.Dictionary
	for _, r := range p.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			for _, one := range s.Profiles {
				n++
				if ids[one.ProfileID] {
					t.Errorf("profile ID %q is not unique", one.ProfileID)
				}
				ids[one.ProfileID] = true
				for _, x := range one.Samples {
					key := d.StringTable[one.SampleType.TypeStrindex]
					for _, l := range d.StackTable[x.StackIndex].LocationIndices {
						for _, line := range d.LocationTable[l].Lines {
							key += ";" + d.StringTable[d.FunctionTable[line.FunctionIndex].NameStrindex]
						}
					}
					for _, a := range x.AttributeIndices {
						v := d.AttributeTable[a]
						key += " " + d.StringTable[v.KeyStrindex] + "=" + v.Value.StringValue + v.Value.IntValue
					}
					v, err := strconv.ParseInt(x.Values[0], 10, 64)
					if err != nil || len(x.Values) != 1 {
						t.Fatalf("values %v: %v", x.Values, err)
					}
					totals[key] += v
				}
			}
		}
	}
	return n
}

// A profileReceiver is an Uploader that adds up the samples of requests of at most max bytes.
type profileReceiver struct {
	t      testing.TB
	max    int
	answer [NumSignals]error

	mu       sync.Mutex
	totals   map[string]int64
	ids      map[string]bool
	requests int
	spans    []string
}

func (r *profileReceiver) Upload(_ context.Context, signal Signal, request []byte, items int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch err := r.answer[signal]; {
	case err != nil:
		return err
	case r.max > 0 && len(request) > r.max:
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(request))
	case signal == Traces:
		r.spans = append(r.spans, string(request))
		return nil
	}
	r.requests++
	var data profilesJSON
	if err := json.Unmarshal(AppendJSON(nil, Profiles, request), &data); err != nil {
		return err
	}
	if n := data.add(r.t, r.totals, r.ids); n != items {
		r.t.Errorf("%d profiles in a request of %d", n, items)
	}
	return nil
}

// sendProfiles sends the profiles of a trace to a receiver that accepts max bytes.
func sendProfiles(t testing.TB, r *profileReceiver, name string, o *Options) (Summary, error) {
	t.Helper()
	r.t, r.totals, r.ids = t, map[string]int64{}, map[string]bool{}
	src, err := reader.NewBytes(corpus.Trace(t, name).Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	o.Profiles = sample.Options{}
	sink := New(t.Context(), r, src.Info(), names, o)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		t.Fatal(err)
	}
	err = sink.Close()
	return sink.Summary(), err
}

// TestProfilesInBatches divides profiles among batches, and among requests that a receiver accepts: the samples are always
// the same, and each is sent once.
func TestProfilesInBatches(t *testing.T) {
	only := SignalSet(Profiles)
	for _, name := range []string{"cpu-v6", "alloc-verbose"} {
		whole := new(profileReceiver)
		sum, err := sendProfiles(t, whole, name, &Options{Signals: only})
		if err != nil || whole.requests != 1 || len(whole.totals) < 20 {
			t.Fatalf("%s: %d requests, %d samples, %v", name, whole.requests, len(whole.totals), err)
		}
		if sum.Items != sum.Sent || sum.Items != int64(len(whole.ids)) {
			t.Errorf("%s: %+v", name, sum.Counts)
		}
		for what, tt := range map[string]struct {
			max int
			o   Options
		}{
			"bytes": {0, Options{BatchBytes: 4000}}, "halves": {6000, Options{}}, "both": {5500, Options{BatchBytes: 9000, Concurrency: 3}},
		} {
			tt.o.Signals = only
			r := &profileReceiver{max: tt.max}
			sum, err := sendProfiles(t, r, name, &tt.o)
			if err != nil || !maps.Equal(r.totals, whole.totals) || r.requests < 2 {
				t.Errorf("%s, %s: %d requests, %d samples, want %d: %v", name, what, r.requests, len(r.totals), len(whole.totals), err)
			}
			if sum.Items != sum.Sent || sum.Sent != int64(len(r.ids)) || (tt.max > 0) != (sum.Halved > 0) {
				t.Errorf("%s, %s: %d IDs, %+v", name, what, len(r.ids), sum.Counts)
			}
		}
	}
}

// TestProfilesTooLarge sends profiles to a receiver that accepts no sample at all.
func TestProfilesTooLarge(t *testing.T) {
	sum, err := sendProfiles(t, &profileReceiver{max: 10}, "cpu-v6", &Options{Signals: SignalSet(Profiles)})
	if err == nil || sum.Sent != 0 || sum.Rejected != maxTooLarge || sum.Items != sum.Rejected+sum.Unsent || sum.Unsent == 0 {
		t.Errorf("%+v: %v", sum.Counts, err)
	}
}

// TestProfilesOfUnsupportingReceiver sends profiles to a receiver without this signal: the spans arrive.
func TestProfilesOfUnsupportingReceiver(t *testing.T) {
	r := &profileReceiver{}
	r.answer[Profiles] = fmt.Errorf("%w: 404", ErrUnsupportedSignal)
	sum, err := sendProfiles(t, r, "otel-cpu", &Options{Signals: SignalSet(Traces, Profiles)})
	if c := sum.Signals[Profiles]; err != nil || len(r.spans) == 0 || c.Items == 0 || c.Rejected != c.Items || sum.Signals[Traces].Rejected != 0 {
		t.Errorf("%d requests of spans, %+v: %v", len(r.spans), sum.Signals, err)
	}
	var alone profileReceiver
	if _, err := sendProfiles(t, &alone, "otel-cpu", &Options{Signals: SignalSet(Traces)}); err != nil || !slices.Equal(alone.spans, r.spans) {
		t.Errorf("spans without profiles: %d requests, want %d: %v", len(alone.spans), len(r.spans), err)
	}
}

// Samples whose values are all 0 are no profile, and no batch.
func TestProfilesOfZeros(t *testing.T) {
	for _, form := range []Form{JSONLines, Protobuf, Delimited} {
		src, err := folded.New(strings.NewReader("a;b 0\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		sink := NewFile(&b, form, src.Info(), nil, &Options{Signals: SignalSet(Profiles)})
		_, err = ntconv.Copy(sink, src)
		if err = errors.Join(err, sink.Close()); err != nil || b.Len() > 0 || sink.Summary().Sent > 0 {
			t.Errorf("%d: %v, %d bytes, %+v", form, err, b.Len(), sink.Summary())
		}
	}
}

// TestProfilesInFiles compares the forms of a file. A file of one message has one dictionary, however many samples.
func TestProfilesInFiles(t *testing.T) {
	convert := func(form Form) []byte {
		src, err := reader.NewBytes(corpus.Trace(t, "cpu-v6").Data, &reader.Options{Order: reader.ByTime})
		if err != nil {
			t.Fatal(err)
		}
		names := symbol.New(nil)
		var b bytes.Buffer
		sink := NewFile(&b, form, src.Info(), names, &Options{Signals: SignalSet(Profiles), BatchBytes: 4000})
		if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	read := func(texts ...[]byte) map[string]int64 {
		totals, ids := map[string]int64{}, map[string]bool{}
		for _, text := range texts {
			var data profilesJSON
			if err := json.Unmarshal(text, &data); err != nil {
				t.Fatal(err)
			}
			data.add(t, totals, ids)
		}
		return totals
	}
	want := read(AppendJSON(nil, Profiles, convert(Protobuf)))
	lines := slices.Collect(bytes.Lines(convert(JSONLines)))
	if got := read(lines...); len(lines) < 2 || !maps.Equal(got, want) {
		t.Errorf("%d lines, %d samples, want %d", len(lines), len(got), len(want))
	}
}

// BenchmarkProfiles measures the conversion of samples to a file.
func BenchmarkProfiles(b *testing.B) {
	f := corpus.Trace(b, "alloc-verbose")
	events := 0
	for b.Loop() {
		src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
		if err != nil {
			b.Fatal(err)
		}
		names := symbol.New(nil)
		sink := NewFile(io.Discard, Protobuf, src.Info(), names, &Options{Signals: SignalSet(Profiles)})
		n, err := ntconv.Copy(sink, symbol.Watch(src, names))
		if err != nil {
			b.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			b.Fatal(err)
		}
		events += int(n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
