package command

import (
	"errors"
	"io"
	"testing"
)

// The status of an input follows from its error, and outputs of incomplete inputs count as written.
func TestBatchRows(t *testing.T) {
	b := newBatch(newApp(io.Discard, io.Discard), []string{"a", "b", "c", "d", "e"})
	results := []struct {
		set, status string
		code        int
	}{
		{statusAdded, statusAdded, exitOK}, {"", statusIncomplete, exitIncomplete}, {"", statusEmpty, exitEmpty},
		{"", statusFailed, exitInput}, {statusFailed, statusFailed, exitEmpty},
	}
	for i, c := range results {
		b.one(&b.list[i], func(o *outcome) (err error) {
			if o.Events, o.Bytes = 10, 1; c.set != "" {
				o.Status = c.set
			}
			if c.code != exitOK {
				err = fail(c.code, errors.New("x"))
			}
			return err
		})
		if got := b.list[i].Status; got != c.status {
			t.Errorf("code %d: %s, want %s", c.code, got, c.status)
		}
	}
	if events, bytes := b.total(); events != 20 || bytes != 2 || b.written.Load() != 2 || b.inputs.failed.Load() != 2 || b.inputs.done.Load() != 5 {
		t.Errorf("%d events, %d bytes, %d written, %d failed", events, bytes, b.written.Load(), b.inputs.failed.Load())
	}
	if code := codeOf(b.err()); code != exitInput {
		t.Errorf("code %d", code)
	}
}
