package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/html"
)

// emptyPage returns the page of a trace without events.
func emptyPage(t *testing.T, o html.Options) []byte {
	t.Helper()
	var page bytes.Buffer
	o.TempDir = t.TempDir()
	sink, err := html.New(&page, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, Format: "test"}, nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// The policy permits exactly the script and the styles that the page has; no placeholder and no module syntax is left.
func TestPagePolicy(t *testing.T) {
	page := string(emptyPage(t, html.Options{Source: "x"}))
	for _, c := range []struct{ directive, element string }{{"script-src", `<script>`}, {"style-src", "<style>"}} {
		_, text, ok := strings.Cut(page, c.element)
		end := strings.Index(text, "</s")
		if !ok || end < 0 {
			t.Fatalf("no %s", c.element)
		}
		sum := sha256.Sum256([]byte(text[:end]))
		if want := c.directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, want) {
			t.Errorf("the policy lacks %s", want)
		}
		if m := regexp.MustCompile(`(?m)^(import|export) .*`).FindString(text[:end]); m != "" {
			t.Errorf("%s: %s", c.element, m)
		}
	}
	for _, part := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(page, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if m := regexp.MustCompile(`\{\{\w+\}\}|(?i)\b(src|href)="(https?:)?//`).FindString(page); m != "" {
		t.Errorf("the page has %s", m)
	}
	if n := strings.Count(page, "<script"); n != 3 || strings.Count(page, "</script") != n {
		t.Errorf("%d scripts, want the data, the script and the rest of the data", n)
	}
}

// A page of an empty trace has data without rows.
func TestEmptyTrace(t *testing.T) {
	p := decoded(t, emptyPage(t, html.Options{}))
	if len(p.Header.Kinds)+len(p.Header.Series)+p.Rows("nodes")+p.Rows("threads") != 0 || p.Header.Generator != "ntconv dev" {
		t.Errorf("%+v", p.Header)
	}
}

// Answers are part of the header.
func TestAnswers(t *testing.T) {
	p := decoded(t, emptyPage(t, html.Options{Answers: func(html.Summary) (can, cannot []html.Answer) {
		return []html.Answer{{What: "a", Command: "b"}}, nil
	}}))
	if c := p.Header.Trace.Can; len(c) != 1 || c[0].What != "a" || c[0].Command != "b" || p.Header.Trace.Cannot == nil {
		t.Errorf("%+v", p.Header.Trace)
	}
}

// Hostile names are data, never markup.
func TestHostileNames(t *testing.T) {
	const name = "</script><script>alert(1)</script><!--\x00\u202e\"'&\xff"
	f := &ntconv.Function{Name: name, SystemName: name, File: name}
	thread := &ntconv.Thread{TID: 1, Name: name, Process: &ntconv.Process{PID: 1, Name: name}}
	typ := &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler", ID: 0, Fields: []ntconv.Field{{Name: "Type", Type: ntconv.FieldType{Code: ntconv.TypeUint32}}}}
	var page bytes.Buffer
	sink, err := html.New(&page, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, nil, &html.Options{Source: name, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	stack := &ntconv.Stack{Frames: []ntconv.Frame{{Func: f, Mapping: &ntconv.Mapping{File: name}}}, PCs: []uint64{1}}
	for i := range 3 {
		e := &ntconv.Event{Type: typ, Thread: thread, Capture: thread, Time: ntconv.Ticks(i * 1000), Stack: stack, Payload: []byte{2, 0, 0, 0}}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page.Bytes(), []byte("alert(1)</script>")) || bytes.Count(page.Bytes(), []byte("<script")) != 3 {
		t.Error("a name is markup")
	}
	p := decoded(t, page.Bytes())
	valid := strings.ToValidUTF8(name, "\uFFFD")
	if got := p.Texts("functions", "name"); len(got) != 1 || got[0] != valid || p.Texts("threads", "name")[0] != valid {
		t.Errorf("names are %q", got)
	}
}

// Sinks can be closed and aborted again, and Abort writes nothing.
func TestAbort(t *testing.T) {
	var page bytes.Buffer
	sink, err := html.New(&page, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, &html.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{sink.Abort, sink.Abort, sink.Close} {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
	if page.Len() > 0 {
		t.Errorf("Abort wrote %d bytes", page.Len())
	}
	if _, err := html.New(&page, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, &html.Options{MaxBytes: -1}); err == nil {
		t.Error("New accepts a negative size")
	}
}

// A page states how much time counts for gaps between samples, and by what evidence samples are linked to spans.
func TestGapsAndLinks(t *testing.T) {
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	typ := &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler", ID: 0, Fields: []ntconv.Field{{Name: "Type", Type: ntconv.FieldType{Code: ntconv.TypeUint32}}}}
	for _, c := range []struct {
		gap         ntconv.Ticks // in milliseconds
		note, links string
		o           html.Options
	}{
		{gap: 100, links: ""},
		{gap: 900, note: "1 sample lasts for more than 100 sampling intervals, because its thread was not sampled meanwhile: " +
			"900ms of 901ms (99.9%) count for the stack before the gap."},
		{gap: 1, links: "3 of 3 samples linked to spans (3 by thread)", o: html.Options{
			Active:   func(*ntconv.Event) ([16]byte, [8]byte, bool) { return [16]byte{1}, [8]byte{2}, true },
			Evidence: func() string { return "thread" },
		}},
	} {
		var page bytes.Buffer
		c.o.TempDir = t.TempDir()
		sink, err := html.New(&page, &ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}, nil, &c.o)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []ntconv.Ticks{0, 1, 1 + c.gap} {
			e := &ntconv.Event{Type: typ, Thread: thread, Capture: thread, Time: at, Payload: []byte{2, 0, 0, 0}}
			if err := sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		header := decoded(t, page.Bytes()).Header
		if notes := strings.Join(header.Trace.Notes, "\n"); notes != c.note || header.Trace.Links != c.links {
			t.Errorf("gap of %d ms: notes %q, links %q", c.gap, notes, header.Trace.Links)
		}
		if header.Kinds[0].Long != 100e6 || header.Kinds[0].Doc == "" {
			t.Errorf("%+v", header.Kinds[0])
		}
	}
}
