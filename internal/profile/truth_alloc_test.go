package profile_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// exceptionTruth compares the exceptions by type. The recorder lost none, so the numbers are equal.
func exceptionTruth(tt *truthTable) {
	for _, name := range []string{"exceptions", "crash"} {
		var truth struct {
			Cases []struct {
				Type   string
				Events float64
			}
		}
		p := tt.profile(name, sample.Exceptions, &truth)
		byType := map[string]float64{}
		var types []string
		for _, c := range truth.Cases {
			list, _, _ := strings.Cut(c.Type, " (")
			parts := strings.Split(list, " then ") // of nested exceptions
			for _, t := range parts {
				if byType[t] == 0 {
					types = append(types, t)
				}
				byType[t] += c.Events / float64(len(parts))
			}
		}
		measured := valueBy(p, 0, byLabel(meters.LabelExceptionType))
		for _, t := range types {
			spelled := dotnet.TypeName(t, false)
			tt.exact(truthRow{recording: name, kind: sample.Exceptions, what: spelled, truth: byType[t], measured: float64(measured[spelled])})
			delete(measured, spelled)
		}
		if len(measured) > 0 {
			tt.t.Errorf("%s: the program threw no %v", name, measured)
		}
	}
}

// allocatedTypes is what a program allocated.
type allocatedTypes struct {
	Objects []struct {
		Type      string
		Count     float64
		BytesEach float64
	}
}

// allocKey returns the label values of a type in a truth file: System.Byte[] (LOH) is byte[] on the large heap.
func allocKey(recorded string) (what, key string) {
	t, note, _ := strings.Cut(recorded, " (")
	heap := map[string]string{"LOH)": "large", "POH)": "pinned"}[note]
	if strings.HasPrefix(note, "boxed ") {
		t, heap = strings.TrimSuffix(strings.TrimPrefix(note, "boxed "), ")"), "small"
	}
	if heap == "" {
		heap = "small"
	}
	t = dotnet.TypeName(t, false)
	return t + ", " + heap, t + " " + heap
}

// allocatedBy returns the totals of a column by type and heap, of objects that the code of the test allocated.
func allocatedBy(p *profile.Profile, column int) map[string]int64 {
	return valueBy(p, column, func(s *profile.Sample) string {
		for i := range s.Frames {
			if strings.Contains(s.Frames[i].Func.Name, "Shop.Alloc.") {
				return byLabel(meters.LabelType)(s) + " " + byLabel(meters.LabelHeap)(s)
			}
		}
		return ""
	})
}

// sampledTruth compares sampled allocations by type. An object of size s is sampled with probability
// p = 1 - exp(-s/100 KiB), independently of others, so that the number of sampled objects of n is binomial and the
// estimate has the standard error sqrt(n (1-p) / p). The mean over all types of the differences in standard errors shows
// that the estimates are not biased.
func sampledTruth(tt *truthTable) {
	const name = "alloc-sampled"
	var truth allocatedTypes
	p := tt.profile(name, sample.Alloc, &truth)
	objects, space := allocatedBy(p, 0), allocatedBy(p, 1)
	var z float64
	for _, o := range truth.Objects {
		what, key := allocKey(o.Type)
		prob := 1 - math.Exp(-o.BytesEach/(100<<10))
		limit := 3 * math.Sqrt(o.Count*(1-prob)/prob)
		r := truthRow{recording: name, kind: sample.Alloc, what: "objects: " + what, truth: o.Count, measured: float64(objects[key])}
		why := fmt.Sprintf("3 standard errors: ±%.0f%%", 100*limit/o.Count)
		tt.within(r, limit, why)
		z += 3 * (r.measured - r.truth) / limit
		r.what, r.unit = "bytes: "+what, "B"
		r.truth, r.measured = o.Count*o.BytesEach, float64(space[key])
		tt.within(r, limit*o.BytesEach, why)
	}
	if n := float64(len(truth.Objects)); math.Abs(z/n) > 3/math.Sqrt(n) {
		tt.t.Errorf("%s: on average, estimates differ by %.2g standard errors: want at most %.2g", name, z/n, 3/math.Sqrt(n))
	}
}

// tickTruth compares allocations that the runtime reports once per 100 KiB. The program allocates the types one after
// the other. The first event of a type counts the bytes since the previous event, and the bytes after its last event
// count for the next type, so the difference is less than the bytes of one event: 100 KiB, the rest of the thread's
// allocation buffer of 8 KiB, and one object.
func tickTruth(tt *truthTable) {
	const name = "alloc-verbose"
	var truth allocatedTypes
	p := tt.profile(name, sample.Alloc, &truth)
	objects, space := allocatedBy(p, 0), allocatedBy(p, 1)
	for _, o := range truth.Objects {
		what, key := allocKey(o.Type)
		limit := 108<<10 + o.BytesEach
		r := truthRow{recording: name, kind: sample.Alloc, what: "bytes: " + what, unit: "B"}
		r.truth, r.measured = o.Count*o.BytesEach, float64(space[key])
		why := fmt.Sprintf("one event: ±%.0f%%", 100*limit/r.truth)
		tt.within(r, limit, why)
		r.what, r.unit = "objects: "+what, ""
		r.truth, r.measured = o.Count, float64(objects[key])
		tt.within(r, limit/o.BytesEach, why)
	}
}
