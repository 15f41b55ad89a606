package formats

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// An event without a type, which only a program can make, is an error of every format and not a panic.
func TestEventWithoutType(t *testing.T) {
	for _, to := range Writable() {
		t.Run(to.Name, func(t *testing.T) {
			info := &ntconv.Info{Format: "test", PointerSize: 8, Clock: ntconv.Clock{Freq: 1e9}}
			thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
			src := ntconvtest.NewSource(info, &ntconv.Event{Kind: ntconv.KindEvent, Thread: thread, Capture: thread})
			err := func() (err error) {
				defer func() {
					if r := recover(); r != nil {
						err = fmt.Errorf("panic: %v", r)
					}
				}()
				_, _, err = written(t, to, src, "out", &Target{Namer: new(ntconv.NoNames), Report: new(ntconv.Report)})
				return err
			}()
			if !errors.Is(err, ntconv.ErrNoType) {
				t.Errorf("%v", err)
			}
		})
	}
}
