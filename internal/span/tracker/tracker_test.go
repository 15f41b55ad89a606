package tracker_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

func TestDump(t *testing.T) {
	for _, n := range []string{"activities", "activities-notpl", "net-http", "alloc-verbose", "waits", "exceptions", "jit"} {
		f := corpus.SharedTrace(t, "own/"+n)
		src, err := reader.New(bytes.NewReader(f.Data), nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("==", n)
		o := &tracker.Options{Unfinished: tracker.OpenUnfinished, Sources: tracker.Default | tracker.GC | tracker.JIT | tracker.Contention | tracker.Exceptions | tracker.Requests}
		k := 0
		tr := tracker.New(src.Info(), func(s *span.Span) {
			if k++; k > 50 {
				return
			}
			fmt.Printf("%v/%v<%v %q %d %d+%d act=%v tid=%d..%d ev=%d links=%d unf=%v\n", s.TraceID.String()[:4], s.ID.String()[:4], s.ParentID.String()[:4], s.Name, s.Evidence, s.Start, int64(s.End-s.Start), s.Activity, s.Thread.TID, s.EndThread.TID, len(s.Events), len(s.Links), s.Unfinished)
			fmt.Println("   ", attrs(s.Attributes))
			for _, e := range s.Events {
				fmt.Println("    EVENT", e.Name, attrs(e.Attributes))
			}
		}, o)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			tr.Add(e)
		}
		tr.Finish()
		fmt.Printf("%+v\n", tr.Counts())
	}
}

func attrs(a []span.Attribute) (out string) {
	for _, x := range a {
		switch x.Value.Kind() {
		case span.ValueString:
			out += fmt.Sprintf("%s=%.80q ", x.Key, x.Value.Str())
		case span.ValueInt:
			out += fmt.Sprintf("%s=%d ", x.Key, x.Value.Int())
		default:
			out += fmt.Sprintf("%s=kind%d ", x.Key, x.Value.Kind())
		}
	}
	return
}
