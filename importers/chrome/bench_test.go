package chrome_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// generated returns a trace of nested and asynchronous slices with args, of counters and of instants, as Chrome writes
// them.
func generated(events int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(`{"traceEvents":[`)
	for i, ts := 0, 1_000_000.0; i < events; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		ts += rng.Float64() * 10
		tid := 1000 + rng.IntN(8)
		switch i % 4 {
		case 0, 1:
			fmt.Fprintf(&b, `{"args":{"src_file":"../../base/task/sequence_manager.cc","src_func":"RunTask%d","delay":%d},"cat":"toplevel","dur":%.3f,"name":"ThreadControllerImpl::RunTask","ph":"X","pid":1234,"tdur":%d,"tid":%d,"ts":%.3f,"tts":%d}`,
				rng.IntN(50), rng.IntN(1000), rng.Float64()*100, rng.IntN(100), tid, ts, i)
		case 2:
			fmt.Fprintf(&b, `{"args":{"data":{"frame":"5F2A","nodeId":%d,"ratio":%g}},"cat":"devtools.timeline","id":"0x%x","name":"Layout","ph":"%c","pid":1234,"tid":%d,"ts":%.3f}`,
				rng.IntN(1000), rng.Float64(), i/8, "be"[i/4%2], tid, ts)
		default:
			fmt.Fprintf(&b, `{"args":{"value":%d},"cat":"memory","name":"heap","ph":"C","pid":1234,"tid":%d,"ts":%.3f}`, rng.IntN(1<<30), tid, ts)
		}
	}
	b.WriteString(`],"metadata":{"startTime":"2026-11-21T10:00:00.123Z"}}`)
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := generated(200_000)
	readable.Bench(b, len(text), func() (ntconv.Source, error) { return chrome.New(bytes.NewReader(text), nil) })
}
