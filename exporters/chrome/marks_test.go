package chrome_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
)

// Each thread with samples has a slice, so that DevTools shows the samples: its own, or else exactly one mark. A mark is
// not an event when the file is read again, nor is it counted.
func TestSampleMarks(t *testing.T) {
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		out, _ := exported(t, file.Data, chrome.Options{})
		marks, own, profiles := map[string]int{}, map[string]bool{}, map[string]bool{}
		for _, e := range parse(t, out).TraceEvents {
			key := string(e.PID) + "/" + string(e.TID)
			switch {
			case e.Ph == "X" && e.Cat == "samples":
				marks[key]++
			case e.Ph == "X" || e.Ph == "B" && e.Name != "flow":
				own[key] = true
			case e.Ph == "P":
				profiles[key] = true
			}
		}
		for key := range profiles {
			if n := marks[key]; n > 1 || (n == 0) != own[key] {
				t.Errorf("the thread %s has %d marks, slices of its own: %t", key, n, own[key])
			}
		}
		if len(marks) > len(profiles) {
			t.Errorf("marks %v, profiles %v", marks, profiles)
		}
		src := imported(t, string(out))
		for {
			e, err := src.Next()
			if err != nil {
				break
			}
			if e.Kind == ntconv.KindEvent && strings.HasPrefix(e.Type.Name, "samples") {
				t.Fatalf("the mark is read as the event %s/%s", e.Type.Provider, e.Type.Name)
			}
		}
	})
}
