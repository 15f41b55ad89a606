package growth

import (
	"fmt"
	"strings"
)

// viewerInputs returns generators of speedscope and Firefox Profiler files.
func viewerInputs() []Input {
	index := func(i int) string { return fmt.Sprint(i) }
	return []Input{
		text("speedscope-frames", "json", 500, func(b *strings.Builder, n int) {
			speedscope(b, n, sampled(n, func(i int) string { return fmt.Sprint("[0,", i, "]") }))
		}),
		text("speedscope-frames-equal", "json", 500, func(b *strings.Builder, n int) {
			b.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[`)
			b.WriteString(members(n, func(int) string { return `{"name":"f"}` }))
			b.WriteString(`]},"profiles":[` + sampled(n, func(i int) string { return fmt.Sprint("[", i, "]") }) + "]}")
		}),
		text("speedscope-deep", "json", 500, func(b *strings.Builder, n int) {
			speedscope(b, n, sampled(2, func(int) string { return "[" + members(n, index) + "]" }))
		}),
		text("speedscope-profiles", "json", 300, func(b *strings.Builder, n int) {
			speedscope(b, 2, members(n, func(int) string { return sampled(2, func(int) string { return "[0,1]" }) }))
		}),
		text(
			"speedscope-evented",
			"json",
			800,
			func(b *strings.Builder, n int) { // opens 100 frames, then closes them, and so on
				speedscope(b, n, evented(members(n/100, func(k int) string {
					return members(
						100,
						func(i int) string { return fmt.Sprintf(`{"type":"O","frame":%d,"at":%d}`, 100*k+i, 200*k+i) },
					) + "," +
						members(
							100,
							func(i int) string { return fmt.Sprintf(`{"type":"C","frame":%d,"at":%d}`, 100*k+99-i, 200*k+100+i) },
						)
				})))
			},
		),
		text("speedscope-evented-open", "json", 400, func(b *strings.Builder, n int) { // in each of many profiles
			speedscope(b, 50, members(n/50, func(int) string {
				return evented(
					members(50, func(i int) string { return fmt.Sprintf(`{"type":"O","frame":%d,"at":%d}`, i, i) }),
				)
			}))
		}),
		text("speedscope-evented-flat", "json", 500, func(b *strings.Builder, n int) {
			speedscope(b, n, evented(members(n, func(i int) string {
				return fmt.Sprintf(`{"type":"O","frame":%d,"at":%d},{"type":"C","frame":%d,"at":%d}`, i, 2*i, i, 2*i+1)
			})))
		}),
		text("speedscope-groups", "json", 1000, func(b *strings.Builder, n int) {
			b.WriteString(`{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,`)
			var rest strings.Builder
			speedscope(&rest, 1, sampled(1, func(int) string { return "[0]" }))
			b.WriteString(rest.String()[1:])
		}),
		firefoxInput("stacks", 500, func(n int) firefox { // a chain of prefixes
			return firefox{functions: n, prefix: func(i int) string {
				if i == 0 {
					return "null"
				}
				return index(i - 1)
			}, samples: 3, stack: func(int) int { return n - 1 }}
		}),
		firefoxInput("stacks-wide", 500, func(n int) firefox {
			return firefox{
				functions: n,
				prefix:    func(int) string { return "null" },
				samples:   n,
				stack:     func(i int) int { return i },
			}
		}),
		firefoxInput("stacks-cycle", 500, func(n int) firefox {
			return firefox{
				functions: n,
				prefix:    func(i int) string { return index((i + 1) % n) },
				samples:   n,
				stack:     func(i int) int { return i },
			}
		}),
		firefoxInput("markers", 500, func(n int) firefox {
			return firefox{
				functions: 1,
				prefix:    func(int) string { return "null" },
				markers:   n,
				data: func(i int) string {
					return fmt.Sprintf(`{"type":"T%d","key%d":"x","b":1}`, i, i)
				},
			}
		}),
		firefoxInput("markers-keys", 500, func(n int) firefox {
			return firefox{
				functions: 1,
				prefix:    func(int) string { return "null" },
				markers:   2,
				data: func(int) string {
					return `{"type":"T",` + members(
						n,
						func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) },
					) + "}"
				},
			}
		}),
		firefoxInput("markers-same-key", 500, func(n int) firefox {
			return firefox{
				functions: 1,
				prefix:    func(int) string { return "null" },
				markers:   2,
				data: func(int) string {
					return `{"type":"T",` + members(n, func(i int) string { return fmt.Sprintf(`"key":%d`, i) }) + "}"
				},
			}
		}),
		firefoxInput("markers-deep", 1000, func(n int) firefox {
			return firefox{
				functions: 1,
				prefix:    func(int) string { return "null" },
				markers:   2,
				data: func(int) string {
					return `{"type":"T","a":` + strings.Repeat(`{"a":[`, n) + strings.Repeat("]}", n) + "}"
				},
			}
		}),
		firefoxInput("threads", 100, func(n int) firefox {
			return firefox{
				threads:   n,
				functions: 2,
				prefix:    func(int) string { return "null" },
				samples:   2,
				stack:     func(i int) int { return i },
			}
		}),
	}
}

func speedscope(b *strings.Builder, frames int, profiles string) {
	b.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[`)
	b.WriteString(
		members(frames, func(i int) string { return fmt.Sprintf(`{"name":"f%d","file":"a.go","line":%d}`, i, i) }),
	)
	b.WriteString(`]},"profiles":[` + profiles + "]}")
}

func sampled(n int, stack func(i int) string) string {
	return fmt.Sprintf(
		`{"type":"sampled","name":"p","unit":"microseconds","startValue":0,"endValue":%d,"samples":[%s],"weights":[%s]}`,
		n,
		members(n, stack),
		members(n, func(int) string { return "1" }),
	)
}

func evented(events string) string {
	return `{"type":"evented","name":"p","unit":"microseconds","startValue":0,"endValue":1000000,"events":[` + events + "]}"
}

// A firefox describes the size of a Firefox Profiler profile.
type firefox struct {
	threads   int // 0 means 1
	functions int // also the number of stacks
	prefix    func(stack int) string
	samples   int
	stack     func(sample int) int
	markers   int
	data      func(marker int) string
}

func firefoxInput(name string, n int, of func(n int) firefox) Input {
	return text("firefox-"+name, "json", n, func(b *strings.Builder, n int) {
		f := of(n)
		b.WriteString(
			`{"meta":{"interval":1,"startTime":1700000000000,"processType":0,"product":"Firefox","stackwalk":1,"version":24,` +
				`"preprocessedProfileVersion":48,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[]},"libs":[],"threads":[`,
		)
		b.WriteString(members(max(f.threads, 1), func(i int) string { return f.thread(i) }))
		b.WriteString("]}")
	})
}

func (f *firefox) thread(thread int) string {
	column := func(n int, v string) string { return members(n, func(int) string { return v }) }
	numbers := func(n int) string { return members(n, func(i int) string { return fmt.Sprint(i) }) }
	n := f.functions
	funcs := fmt.Sprintf(
		`{"length":%d,"name":[%s],"isJS":[%s],"relevantForJS":[%[3]s],"resource":[%s],"fileName":[%s],"lineNumber":[%[5]s],"columnNumber":[%[5]s]}`,
		n,
		numbers(n),
		column(n, "false"),
		column(n, "-1"),
		column(n, "null"),
	)
	frames := fmt.Sprintf(
		`{"length":%d,"address":[%s],"inlineDepth":[%s],"category":[%[3]s],"subcategory":[%[3]s],"func":[%s],"nativeSymbol":[%s],`+
			`"innerWindowID":[%[3]s],"implementation":[%[5]s],"line":[%[5]s],"column":[%[5]s]}`,
		n,
		column(n, "-1"),
		column(n, "0"),
		numbers(n),
		column(n, "null"),
	)
	stacks := fmt.Sprintf(`{"length":%d,"prefix":[%s],"frame":[%s],"category":[%s],"subcategory":[%[4]s]}`, n, members(n, f.prefix), numbers(n), column(n, "0"))
	samples := fmt.Sprintf(`{"length":%d,"stack":[%s],"time":[%s],"weight":null,"weightType":"samples"}`, f.samples,
		members(f.samples, func(i int) string { return fmt.Sprint(f.stack(i)) }), numbers(f.samples))
	markers := fmt.Sprintf(
		`{"length":%d,"name":[%s],"startTime":[%s],"endTime":[%s],"phase":[%s],"category":[%s],"data":[%s]}`,
		f.markers,
		column(f.markers, "0"),
		numbers(f.markers),
		column(f.markers, "null"),
		column(f.markers, "0"),
		column(f.markers, "0"),
		members(f.markers, f.data),
	)
	return fmt.Sprintf(
		`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,`+
			`"pausedRanges":[],"name":"t%d","isMainThread":false,"pid":"1","tid":%d,"samples":%s,"markers":%s,"stackTable":%s,"frameTable":%s,"funcTable":%s,`+
			`"resourceTable":{"length":0,"lib":[],"name":[],"host":[],"type":[]},"nativeSymbols":{"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]},`+
			`"stringArray":[%s]}`,
		thread,
		thread,
		samples,
		markers,
		stacks,
		frames,
		funcs,
		members(max(n, 1), func(i int) string { return fmt.Sprintf(`"f%d"`, i) }),
	)
}
