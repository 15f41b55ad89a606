package otlp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// A panicker is an Uploader with a bug.
type panicker struct{}

func (panicker) Upload(context.Context, Signal, []byte, int) error { panic("index out of range") }

// A nil Uploader and one that panics end the upload with an error that says so, and all spans are counted.
func TestBrokenUploader(t *testing.T) {
	for _, c := range []struct {
		to   Uploader
		text string
		sure bool // the spans were not received
	}{
		{nil, "the uploader is nil", true}, {panicker{}, "the uploader panicked: index out of range", false},
	} {
		s := newTestSink(t.Context(), c.to, &Options{BatchItems: 16})
		send(s, 40)
		err := s.Close()
		sum := s.Summary()
		if checkSummary(t, sum); err == nil || !strings.Contains(err.Error(), c.text) || errors.Is(err, ErrNotReceived) != c.sure || sum.Items != 40 || sum.Sent != 0 {
			t.Errorf("%v, %+v, want %q", err, sum, c.text)
		}
	}
}

// A sink that is closed takes no event, and its summary does not change.
func TestWriteAfterClose(t *testing.T) {
	s := newTestSink(t.Context(), &receiver{t: t}, nil)
	send(s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := s.Summary()
	if err := s.Write(&ntconv.Event{Type: &ntconv.Type{Provider: "x", Name: "y"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	if s.Summary() != before || s.Close() != nil {
		t.Errorf("%+v, before %+v", s.Summary(), before)
	}
}
