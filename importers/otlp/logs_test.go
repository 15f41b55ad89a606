package otlp_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"pgregory.net/rapid"
)

// recordsOf returns copies of all log records of a source.
func recordsOf(src ntconv.Source, err error) (records []*logs.Record, _ error) {
	if err != nil {
		return nil, err
	}
	r := logs.NewReader(src.Info(), func(l *logs.Record) { records = append(records, spangen.CloneRecord(l)) }, nil)
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			return records, err
		}
		r.Add(e)
	}
	r.Finish()
	return records, nil
}

// throughNettrace returns a source of a nettrace file that has the events of src.
func throughNettrace(src ntconv.Source, err error) (ntconv.Source, error) {
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), nil)
	if err != nil {
		return nil, err
	}
	_, err = ntconv.Copy(w, src)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return reader.NewBytes(file.Bytes(), nil)
}

// recordsWithoutNaNs is withoutNaNs for log records.
func recordsWithoutNaNs(records []*logs.Record) (out []*logs.Record) {
	var scopes []*span.Span
	for _, l := range records {
		c := *l
		body := []span.Attribute{{Value: l.Body}}
		s := withoutNaNs([]*span.Span{
			{Attributes: l.Attributes, Scope: l.Scope, Resource: l.Resource, Events: []span.Event{{Attributes: body}}},
		})[0]
		scopes = append(scopes, s)
		withSharedOwners(scopes[max(0, len(scopes)-2):])
		c.Attributes, c.Body, c.Scope, c.Resource = s.Attributes, s.Events[0].Attributes[0].Value, s.Scope, s.Resource
		out = append(out, &c)
	}
	return out
}

// sameRecords returns an error unless the lists have the same records in any order: a trace has them by time.
func sameRecords(want, got []*logs.Record) error {
	rest := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(rest, func(g *logs.Record) bool { return spangen.EqualRecords([]*logs.Record{w}, []*logs.Record{g}) == nil })
		if i < 0 {
			return fmt.Errorf("no record %+v in %+v", *w, rest)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d more records", len(rest))
	}
	return nil
}

// Log records in every form of protobuf, and in every style of JSON, pass through the importer and a nettrace file.
func TestLogs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := spangen.Records().Draw(rt, "records")
		data := spangen.LogsProto(records)
		var messages [][]byte
		for _, rl := range data.ResourceLogs {
			messages = append(messages, marshal(rt, &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{rl}}))
		}
		for _, input := range [][]byte{marshal(rt, data), delimited(messages...), varintDelimited(messages...)} {
			var report ntconv.Report
			got, err := recordsOf(throughNettrace(otlp.New(bytes.NewReader(input), &otlp.Options{Report: &report})))
			if err != nil {
				rt.Fatal(err)
			}
			if err := sameRecords(records, got); err != nil {
				rt.Fatal(err)
			}
			wantClean(rt, &report)
		}
		records = recordsWithoutNaNs(records)
		text := spangen.JSON(spangen.LogsProto(records), styles().Draw(rt, "style"))
		var report ntconv.Report
		got, err := recordsOf(throughNettrace(otlp.New(bytes.NewReader(slices.Concat(text, text)), &otlp.Options{Report: &report})))
		if err != nil {
			rt.Fatalf("%v: %s", err, text)
		}
		if err := sameRecords(slices.Concat(records, records), got); err != nil {
			rt.Fatalf("%v: %s", err, text)
		}
		wantClean(rt, &report)
	})
}

// A delimited message whose length is the code of a bracket is not JSON.
func TestLengthLikeJSON(t *testing.T) {
	found := 0
	for n := range 200 {
		record := &logs.Record{Time: 1, Body: span.String(strings.Repeat("x", n)), Scope: new(span.Scope), Resource: new(span.Resource)}
		message := marshal(t, spangen.LogsProto([]*logs.Record{record}))
		if len(message) != '[' && len(message) != '{' {
			continue
		}
		found++
		src, err := otlp.New(bytes.NewReader(varintDelimited(message)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := recordsOf(src, nil); err != nil || len(got) != 1 {
			t.Errorf("%d bytes: %d records, %v", len(message), len(got), err)
		}
	}
	if found != 2 {
		t.Errorf("%d lengths", found)
	}
}

// Metrics without data points, which a trace does not store, are counted, wherever they are.
func TestMetricsWithoutPoints(t *testing.T) {
	const metrics = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a"}]}]},{}]}` + "\n"
	line := string(spangen.JSON(spangen.LogsProto([]*logs.Record{{Time: 1, Body: span.String("x"), Scope: new(span.Scope), Resource: new(span.Resource)}}), spangen.Style{})) + "\n"
	for _, c := range []struct {
		text string
		n    int
		lost uint64
	}{{metrics + line, 1, 1}, {line + metrics, 1, 1}, {line + metrics + line + metrics, 2, 2}} {
		var report ntconv.Report
		src, err := otlp.New(strings.NewReader(c.text), &otlp.Options{Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := recordsOf(src, nil); err != nil || len(got) != c.n || report.Count(ntconv.CodeNotCarried) != c.lost {
			t.Errorf("%s: %d records, %v, %v", c.text, len(got), err, report.Entries())
		}
	}
	var report ntconv.Report
	if got := signalsIn(otlp.New(strings.NewReader(metrics), &otlp.Options{Report: &report})); got != "" || report.Count(ntconv.CodeNotCarried) != 1 {
		t.Errorf("metrics alone: %s, %v", got, report.Entries())
	}
}

// A file may have several signals, in any order.
func TestMixedSignals(t *testing.T) {
	spans, records := examples(3), []*logs.Record{}
	for i := range 3 {
		records = append(records, recordsWithoutNaNs(spangen.Records().Example(i))...)
	}
	line := func(b []byte) []byte { return append(b, '\n') }
	traces, logLines := line(spangen.JSON(spangen.Proto(spans), spangen.Style{})), line(spangen.JSON(spangen.LogsProto(records), spangen.Style{}))
	both := slices.Concat([]byte(`{"resourceLogs":`), bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(logLines), []byte(`{"resourceLogs":`)), []byte("}")),
		[]byte(","), bytes.TrimPrefix(traces, []byte("{")))
	for name, input := range map[string][]byte{
		"traces first": slices.Concat(traces, logLines), "logs first": slices.Concat(logLines, traces), "one object": both,
		"damage between": slices.Concat(traces, []byte("{\"resourceSpans\":[{\"scopeSpans\":!\n"), logLines),
		"delimited":      delimited(marshal(t, spangen.LogsProto(records)), marshal(t, spangen.Proto(spans))),
	} {
		gotSpans, err := read(bytes.NewReader(input), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		spangen.WantEqual(t, spans, gotSpans)
		got, err := recordsOf(otlp.New(bytes.NewReader(input), nil))
		if err = errors.Join(err, spangen.EqualRecords(records, got)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record with an ID of a wrong length belongs to no span, which is counted. An ID of zeros is the same as none.
func TestInvalidIDsOfRecords(t *testing.T) {
	for _, test := range []struct {
		trace, span int // bytes
		kept        bool
	}{{15, 8, false}, {16, 9, false}, {0, 7, false}, {16, 8, true}, {0, 0, true}, {16, 0, true}} {
		l := &logspb.LogRecord{TimeUnixNano: 1, TraceId: make([]byte, test.trace), SpanId: make([]byte, test.span), EventName: "e"}
		for form, input := range map[string][]byte{"protobuf": marshal(t, oneLog(l)), "JSON": spangen.JSON(oneLog(l), spangen.Style{})} {
			var report ntconv.Report
			got, err := recordsOf(otlp.New(bytes.NewReader(input), &otlp.Options{Report: &report}))
			if err != nil || len(got) != 1 || !got[0].TraceID.IsZero() || !got[0].Context.ID.IsZero() || got[0].EventName != "e" {
				t.Fatalf("%s: %v: %v, %v", form, test, got, err)
			}
			if counted := report.Count(ntconv.CodeNotCarried) == 1; counted == test.kept {
				t.Errorf("%s: %v: %v", form, test, report.Entries())
			}
		}
	}
}

// Records that are larger than an event pass through nettrace: each for a different reason.
func TestLargeRecords(t *testing.T) {
	text := strings.Repeat("ä\x00b", 25_000)
	scope, resource := &span.Scope{Name: "s"}, &span.Resource{}
	var records []*logs.Record
	for i := range 4 {
		l := &logs.Record{Time: uint64(i + 1), Observed: 1, Scope: scope, Resource: resource}
		switch i {
		case 0:
			l.Body = span.String(text)
		case 1:
			l.Body = span.Map([]span.Attribute{{Key: "k", Value: span.Array([]span.Value{span.Bytes(text), span.Empty()})}})
		case 2:
			l.EventName, l.SeverityText, l.TraceID = text, text, span.TraceID{1}
		case 3:
			for k := range 1000 {
				l.Attributes = append(l.Attributes, span.Attribute{Key: fmt.Sprint(k), Value: span.String(text[:300])})
			}
		}
		records = append(records, l, &logs.Record{Time: uint64(i + 1), Scope: scope, Resource: resource})
	}
	src, err := throughNettrace(otlp.New(bytes.NewReader(marshal(t, spangen.LogsProto(records))), nil))
	got, err := recordsOf(src, err)
	if err = errors.Join(err, spangen.EqualRecords(records, got)); err != nil {
		t.Error(err)
	}
}
