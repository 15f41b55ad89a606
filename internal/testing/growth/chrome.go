package growth

import (
	"fmt"
	"strings"
)

// chromeInput returns a generator of Chrome trace events. add adds an event; times are in microseconds.
func chromeInput(name string, n int, fill func(add func(format string, args ...any), n int)) Input {
	return text("chrome-"+name, "json", n, func(b *strings.Builder, n int) {
		b.WriteString(`{"traceEvents":[`)
		comma := ""
		fill(func(format string, args ...any) {
			b.WriteString(comma + "\n{")
			fmt.Fprintf(b, format, args...)
			b.WriteString("}")
			comma = ","
		}, n)
		b.WriteString("\n]}\n")
	})
}

// chromeInputs returns generators of Chrome trace event files.
func chromeInputs() []Input {
	return []Input{
		chromeInput("threads", 300, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":{"name":"thread %d"}`, i, i)
				add(`"ph":"X","name":"x","pid":1,"tid":%d,"ts":%d,"dur":10`, i, i)
			}
		}),
		chromeInput("processes", 300, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"M","name":"process_name","pid":%d,"args":{"name":"process %d"}`, i, i)
				add(`"ph":"X","name":"x","pid":%d,"tid":1,"ts":%d,"dur":10`, i, i)
			}
		}),
		chromeInput("names-of-threads", 300, func(add func(string, ...any), n int) { // IDs that are strings
			for i := range n {
				add(`"ph":"X","name":"x","pid":"p%d","tid":"t%d","ts":%d,"dur":10`, i%9, i, i)
			}
		}),
		chromeInput("begins", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"B","name":"b%d","pid":1,"tid":1,"ts":%d`, i, i)
			}
		}),
		chromeInput("ends", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"E","name":"b%d","pid":1,"tid":1,"ts":%d`, i, i)
			}
		}),
		chromeInput("nested", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"B","name":"b","pid":1,"tid":1,"ts":%d`, i)
			}
			for i := range n {
				add(`"ph":"E","pid":1,"tid":1,"ts":%d`, n+i)
			}
		}),
		chromeInput("crossing", 500, func(add func(string, ...any), n int) { // each overlaps all others
			for i := range n {
				add(`"ph":"X","name":"x%d","pid":1,"tid":1,"ts":%d,"dur":%d`, i, i, n)
			}
		}),
		chromeInput("growing", 500, func(add func(string, ...any), n int) { // each contains all before it
			for i := range n {
				add(`"ph":"X","name":"x","pid":1,"tid":1,"ts":%d,"dur":%d`, n-i, 2*i+1)
			}
		}),
		chromeInput("same-time", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"X","name":"x%d","pid":1,"tid":1,"ts":5,"dur":10`, i)
			}
		}),
		chromeInput("reverse", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"X","name":"x","pid":1,"tid":1,"ts":%d,"dur":1`, 2*(n-i))
			}
		}),
		chromeInput(
			"async",
			500,
			func(add func(string, ...any), n int) { chromeAsync(add, n, func(i int) int { return i }) },
		),
		chromeInput(
			"async-same-id",
			500,
			func(add func(string, ...any), n int) { chromeAsync(add, n, func(int) int { return 1 }) },
		),
		chromeInput("async-open", 500, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"b","cat":"c","name":"a","id":"%d","pid":1,"tid":1,"ts":%d`, i, i)
				add(`"ph":"n","cat":"c","name":"a","id":"%d","pid":1,"tid":1,"ts":%d`, i, n+i)
			}
		}),
		chromeInput("flows", 300, func(add func(string, ...any), n int) {
			chromeFlows(add, n, func(i int) int { return i })
		}),
		chromeInput("flows-same-id", 300, func(add func(string, ...any), n int) {
			chromeFlows(add, n, func(int) int { return 1 })
		}),
		chromeInput("bind-ids", 300, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"X","name":"x","pid":1,"tid":%d,"ts":%d,"dur":%d,"bind_id":"1","flow_in":true,"flow_out":true`, i%7, i, n)
			}
		}),
		chromeInput("objects", 300, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"N","name":"o","id":"%d","pid":1,"tid":1,"ts":%d`, i, i)
				add(`"ph":"O","name":"o","id":"%d","pid":1,"tid":1,"ts":%d,"args":{"snapshot":{"a":%d}}`, i, i, i)
			}
		}),
		chromeInput("counters", 300, func(add func(string, ...any), n int) {
			for i := range n {
				add(`"ph":"C","name":"c%d","pid":1,"tid":1,"ts":%d,"args":{"s%d":%d}`, i, i, i, i)
			}
		}),
		chromeInput("counter-series", 300, func(add func(string, ...any), n int) {
			add(
				`"ph":"C","name":"c","pid":1,"tid":1,"ts":1,"args":{%s}`,
				members(n, func(i int) string { return fmt.Sprintf(`"s%d":%d`, i, i) }),
			)
		}),
		chromeInput("args", 500, func(add func(string, ...any), n int) {
			chromeArgs(add, members(n, func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) }))
		}),
		chromeInput("args-same-key", 500, func(add func(string, ...any), n int) {
			chromeArgs(add, members(n, func(int) string { return `"key":1` }))
		}),
		chromeInput("args-colliding", 500, func(add func(string, ...any), n int) {
			chromeArgs(add, members(n, func(i int) string {
				if i < n/2 {
					return fmt.Sprintf(`"a_%d":1`, i+n/2+2)
				}
				return `"a":1`
			}))
		}),
		chromeInput("args-objects", 300, func(add func(string, ...any), n int) {
			chromeArgs(
				add,
				members(n, func(i int) string { return fmt.Sprintf(`"o%d":{"a":1,"a":2,"b":[1,{"c":3}]}`, i) }),
			)
		}),
		chromeInput("args-deep", 1000, func(add func(string, ...any), n int) {
			chromeArgs(add, `"a":`+strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n))
		}),
		chromeInput("args-deep-arrays", 1000, func(add func(string, ...any), n int) {
			chromeArgs(add, `"a":`+strings.Repeat(`[`, n)+strings.Repeat("]", n))
		}),
		chromeInput("args-array", 1000, func(add func(string, ...any), n int) {
			chromeArgs(add, `"a":[`+members(n, func(i int) string { return fmt.Sprintf(`{"k":%d,"k":"x"}`, i) })+"]")
		}),
		chromeInput("args-shapes", 300, func(add func(string, ...any), n int) { // each event has other args
			for i := range n {
				add(`"ph":"i","name":"i","pid":1,"tid":1,"ts":%d,"args":{"a%d":1,"b":"x"}`, i, i)
			}
		}),
		chromeInput("args-escapes", 2000, func(add func(string, ...any), n int) {
			chromeArgs(add, `"`+strings.Repeat(`\u0041\n`, n)+`":"`+strings.Repeat(`\"\ud83d\ude00`, n)+`"`)
		}),
		text("chrome-stack-frames", "json", 500, func(b *strings.Builder, n int) { // a chain of parents
			b.WriteString(`{"stackFrames":{"0":{"name":"root","category":"c"}`)
			for i := range n {
				fmt.Fprintf(b, ",\n\"%d\":{\"name\":\"f%d\",\"category\":\"c\",\"parent\":\"%d\"}", i+1, i, i)
			}
			b.WriteString(`},"samples":[`)
			b.WriteString(members(3, func(i int) string {
				return fmt.Sprintf(`{"cpu":0,"tid":1,"ts":%d,"name":"cycles","sf":"%d","weight":1}`, i, n)
			}))
			b.WriteString(`],"traceEvents":[{"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":5,"sf":"1"}]}`)
		}),
		text("chrome-stack-frames-cycle", "json", 500, func(b *strings.Builder, n int) {
			b.WriteString(`{"stackFrames":{`)
			b.WriteString(members(n, func(i int) string {
				return fmt.Sprintf(`"%d":{"name":"f%d","category":"c","parent":"%d"}`, i, i, (i+1)%n)
			}))
			b.WriteString(`},"samples":[`)
			// Package sampled limits the total number of frames of all stacks.
			b.WriteString(members(3, func(i int) string {
				return fmt.Sprintf(`{"cpu":0,"tid":1,"ts":%d,"name":"cycles","sf":"%d","weight":1}`, i, i)
			}))
			b.WriteString(`],"traceEvents":[{"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":5,"sf":"1"}]}`)
		}),
		text("chrome-v8", "cpuprofile", 500, func(b *strings.Builder, n int) { // a wide tree
			v8Profile(b, n, true)
		}),
		text("chrome-v8-deep", "cpuprofile", 500, func(b *strings.Builder, n int) { v8Profile(b, n, false) }),
		text("chrome-array-damaged", "json", 500, func(b *strings.Builder, n int) {
			b.WriteString("[")
			for i := range n {
				fmt.Fprintf(b, `{"ph":"X","name":"x","pid":1,"tid":1,"ts":%d,"dur":},`+"\n", i)
				fmt.Fprintf(b, `{"ph":"X","name":"x","pid":1,"tid":1,"ts":%d,"dur":1},`+"\n", i)
			}
		}),
	}
}

// members returns n members of a list, joined by commas.
func members(n int, member func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = member(i)
	}
	return strings.Join(list, ",")
}

func chromeArgs(add func(string, ...any), args string) {
	add(`"ph":"X","name":"x","pid":1,"tid":1,"ts":1,"dur":10,"args":{%s}`, args)
	add(`"ph":"i","name":"i","pid":1,"tid":1,"ts":2,"args":{%s}`, args)
}

func chromeAsync(add func(string, ...any), n int, id func(i int) int) {
	for i := range n {
		add(`"ph":"b","cat":"c","name":"a","id":"%d","pid":1,"tid":1,"ts":%d`, id(i), i)
	}
	for i := range n {
		add(`"ph":"e","cat":"c","name":"a","id":"%d","pid":1,"tid":1,"ts":%d`, id(i), n+i)
	}
}

func chromeFlows(add func(string, ...any), n int, id func(i int) int) {
	for i := range n {
		add(`"ph":"X","name":"x","pid":1,"tid":%d,"ts":%d,"dur":1`, i%7, 2*i)
		add(`"ph":"s","cat":"c","name":"f","id":"%d","pid":1,"tid":%d,"ts":%d`, id(i), i%7, 2*i)
	}
	for i := range n {
		add(`"ph":"X","name":"y","pid":1,"tid":%d,"ts":%d,"dur":1`, i%7, 2*(n+i))
		add(`"ph":"f","cat":"c","name":"f","id":"%d","pid":1,"tid":%d,"ts":%d`, id(i), i%7, 2*(n+i))
	}
}

// v8Profile writes a profile in which the root is the parent of all other nodes, or each node is the parent of the
// next.
func v8Profile(b *strings.Builder, n int, wide bool) {
	b.WriteString(`{"nodes":[`)
	b.WriteString(members(n, func(i int) string {
		children := ""
		switch {
		case wide && i == 0:
			children = members(n-1, func(i int) string { return fmt.Sprint(i + 2) })
		case !wide && i < n-1:
			children = fmt.Sprint(i + 2)
		}
		return fmt.Sprintf(
			`{"id":%d,"callFrame":{"functionName":"f%d","scriptId":"1","url":"a.js","lineNumber":%d,"columnNumber":1},"hitCount":1,"children":[%s]}`,
			i+1,
			i,
			i,
			children,
		)
	}))
	samples := n
	if !wide {
		samples = 3 // all of them at the deepest node
	}
	fmt.Fprintf(
		b,
		`],"startTime":1000,"endTime":%d,"samples":[%s],"timeDeltas":[%s]}`,
		1000+n,
		members(samples, func(i int) string { return fmt.Sprint(n - i) }),
		members(samples, func(int) string { return "1" }),
	)
}
