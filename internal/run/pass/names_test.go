package pass_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The names of processes are learned in one reading ahead, which ends as soon as the only process has its name; a
// machine-wide trace is read to its end. The selection keeps the events of the process, also those before its name.
// Later passes need no further reading.
func TestSelectNames(t *testing.T) {
	for trace, toEnd := range map[string]bool{"exceptions": false, "cpu-env": false, "cpu-v6": true} {
		for _, name := range []string{"SH*", "web"} {
			plan := &pass.Plan{AnyOrder: true, Selection: &selection.Options{Processes: []string{name}}}
			names := pass.SelectNames(plan.Selection)
			plan.Lookaheads = append(plan.Lookaheads, names)
			learn, readings, seen := names.Learn, 0, int64(0)
			names.Learn = func(info *ntconv.Info) (func(*ntconv.Event), func()) {
				readings++
				see, end := learn(info)
				return func(e *ntconv.Event) {
					if e.Kind == ntconv.KindEvent {
						seen++
					}
					see(e)
				}, end
			}
			in := open(t, corpus.Path(trace+".nettrace.zst"))
			for range 2 {
				var total, kept int64
				err := plan.Do(in, func(p *pass.Pass) error {
					fatal, _ := p.Drain(newRecorder())
					total, kept = p.Total, p.Kept
					return fatal
				})
				want := map[string]int64{"SH*": total, "web": 0}[name]
				if err != nil || kept != want || total == 0 || readings != 1 || (seen == total) != toEnd || !toEnd && seen > total/2 {
					t.Errorf("%s: %d of %d events kept, %d readings of %d events, %v", trace, kept, total, readings, seen, err)
				}
			}
			if plan.NeedsAgain() != true {
				t.Error("the input need not be readable again")
			}
		}
	}
	if pass.SelectNames(&selection.Options{ThreadNames: []string{"x"}}) != nil {
		t.Error("names of threads need no reading")
	}
}
