package firefox_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// list returns a JSON list of n elements.
func list(n int, element func(i int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	return b.String() + "]"
}

// randomProfile returns a profile of one thread with that many samples and half as many markers, in 20,000 stacks of
// 2,000 functions.
func randomProfile(samples int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	const stacks, functions = 20_000, 2_000
	number := func(limit int) string { return fmt.Sprint(rng.IntN(limit)) }
	var b bytes.Buffer
	b.WriteString(`{"meta":{"interval":1,"startTime":1700000000000,"preprocessedProfileVersion":66,"categories":[{"name":"Other"}]},"shared":{"stringArray":`)
	b.WriteString(list(functions, func(i int) string { return fmt.Sprintf(`"Shop.Namespace%d.Class.Method(int, string)"`, i) }))
	fmt.Fprintf(&b, `,"stackTable":{"length":%d,"frame":%s,"prefixOffset":%s}`, stacks, list(stacks, func(int) string { return number(functions) }),
		list(stacks, func(i int) string { return number(min(i, 2000) + 1) }))
	fmt.Fprintf(&b, `,"frameTable":{"length":%d,"func":%s},"funcTable":{"length":%d,"name":%s}}`, functions, list(functions, func(i int) string { return fmt.Sprint(i) }),
		functions, list(functions, func(i int) string { return fmt.Sprint(i) }))
	fmt.Fprintf(&b, `,"threads":[{"name":"main","pid":"1","tid":1,"samples":{"length":%d,"stack":%s,"timeDeltas":%s,"weight":null,"weightType":"samples"}`, samples,
		list(samples, func(int) string { return number(stacks) }), list(samples, func(int) string { return "1.000" + number(1000) }))
	n := samples / 2
	fmt.Fprintf(&b, `,"markers":{"length":%d,"name":%s,"category":%s,"phase":%s,"startTime":%s,"endTime":%s,"data":%s}}]}`, n, list(n, func(int) string { return number(50) }),
		list(n, func(int) string { return "0" }), list(n, func(int) string { return "1" }), list(n, func(i int) string { return fmt.Sprintf("%d.25", i) }),
		list(n, func(i int) string { return fmt.Sprintf("%d.75", i) }), list(n, func(i int) string { return fmt.Sprintf(`{"type":"Work","count":%d,"what":"scan of shelf"}`, i) }))
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := randomProfile(100_000)
	readable.Bench(b, len(text), func() (ntconv.Source, error) { return firefox.New(bytes.NewReader(text), nil) })
}
