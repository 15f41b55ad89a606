package job

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// A noResult is the result of an output without samples.
type noResult struct{ text string }

func (*noResult) Empty() string                   { return "" }
func (*noResult) Detail() (string, []ntconv.Code) { return "", nil }
func (*noResult) Notes() []string                 { return nil }
func (*noResult) Line(formats.Read) string        { return "" }
func (r *noResult) Remark(text string)            { r.text = text }

// TestSpanEvictions checks that spans that end early because too many are open are reported, once.
func TestSpanEvictions(t *testing.T) {
	src, err := reader.NewBytes(corpus.Trace(t, "activities").Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := Spans{kind: sample.Wall, index: active.New(src.Info(), &active.Options{
		Tracker: &tracker.Options{MaxOpen: 1, Unfinished: tracker.CloseUnfinished},
	})}
	for e := range ntconv.Events(src) {
		s.index.Add(e)
	}
	s.index.Finish()
	s.link(nil, src)
	result := new(noResult)
	sum := &pass.Summary{Result: result}
	s.Describe(sum)
	if sum.Links == nil || sum.Links.Evicted == 0 || !strings.Contains(result.text, "ended early because too many were open") {
		t.Errorf("%+v: %s", sum.Links, result.text)
	}
	c, err := selection.ParseDuring(`span.name == "Pay"`)
	if err != nil {
		t.Fatal(err)
	}
	s.during = selection.NewDuringFilter([]*selection.DuringCondition{c})
	if s.Describe(sum); strings.Contains(result.text, "early") {
		t.Error(result.text)
	}
}
