package firefox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
)

// file returns a profile with one thread of these members.
func file(thread string) string {
	return `{"meta":{"interval":1,"startTime":0,"preprocessedProfileVersion":57,"categories":[{"name":"Other"}]},` + "\n" +
		`"shared":{"stringArray":["a"]},"threads":[{"name":"t","pid":"1","tid":1,` + thread + `}]}`
}

// tables are tables of a thread with one stack.
const tables = `"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},"funcTable":{"name":[0],"length":1},`

// sharedLate is a profile whose tables are shared and come last.
func sharedLate(samples, stacks string) string {
	return `{"meta":{"preprocessedProfileVersion":75},"threads":[{"samples":` + samples + `}],"shared":{"stringArray":["a"],"stackTable":` + stacks +
		`,"frameTable":{"func":[0,0],"length":2},"funcTable":{"name":[0],"length":1}}}`
}

// TestMalformed checks errors and their positions.
func TestMalformed(t *testing.T) {
	const ok = `"samples":{"stack":[0],"time":[1],"length":1}`
	for _, c := range []struct{ text, want string }{
		{"", "line 1, column 1: input is truncated"},
		{"[]", "want an object, got a list"},
		{"{}", "unknown format: the members meta and threads of a Firefox profile are missing"},
		{`{"meta":{"version":2,"interval":1},"threads":[]}`, "version 2 of profiles that Firefox recorded; want 3 or later, or a processed profile; open it in profiler.firefox.com, and read the profile that it saves"},
		{`{"meta":{"interval":1},"threads":[]}`, "version 0 of profiles that Firefox recorded"},
		{`{"meta":{"version":9},"threads":[{"samples":{"data":[[1]],"schema":{"stack":0}}}]}`, "the rows of a table precede its schema"},
		{`{"meta":{"version":9},"threads":[{"stringTable":[],"frameTable":{"schema":{"location":0},"data":[[1]]}}]}`, "frame 0 has the location 1; there are 0 strings"},
		{`{"threads":[],"meta":{"preprocessedProfileVersion":57}}`, "column 2, /threads: not supported: the member meta comes after threads"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":[]}]}`, "line 1, column 65, /threads/0/samples: input is corrupt: want an object, got a list"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":2,"time":[1],"stack":[0]}}]}`, "line 1, column 97, /threads/0/samples: input is corrupt: column stack has 1 rows, the table has 2"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"stack":[0]}}]}`, "the table has neither time nor timeDeltas"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[0]}}]}`, "the table has no column stack"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[null],"stack":[null]}}]}`, "row 0 of samples has no time"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[1e300],"stack":[null]}}]}`, "the number is out of range"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":2,"timeDeltas":[9e9,9e9],"stack":[null,null]}}]}`, "row 1 of timeDeltas is out of range"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[9e12],"stack":[null]}}]}`, "more than 100 years"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[1],"stack":[null],"weight":[1],"weightType":"furlongs"}}]}`, `weightType "furlongs"`},
		{`{"meta":{"interval":2,"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[1],"stack":[null],"weight":[9e18]}}]}`, "row 0 of weight is out of range"},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{"samples":{"length":1,"time":[1],"stack":[3]}}]}`, "there is no stack 3"},
		{file(tables + `"samples":{"stack":[1],"time":[1],"length":1}`), "line 2, column 243, /threads/0/samples: input is corrupt: row 0 of samples has stack 1; stackTable has 1"},
		{file(`"stackTable":{"frame":[0],"prefix":[0],"length":1},"frameTable":{"func":[0],"length":1},` + ok), "the prefix of stack 0 is not an earlier stack"},
		{file(`"stackTable":{"frame":[0,0],"prefix":[1,0],"length":2},"frameTable":{"func":[0],"length":1},` + ok), "the prefix of stack 0 is not an earlier stack"},
		{file(`"stackTable":{"frame":[0],"prefixOffset":[1],"length":1},"frameTable":{"func":[0],"length":1},` + ok), "the prefix of stack 0 is not an earlier stack"},
		{file(`"stackTable":{"frame":[0],"length":1},"frameTable":{"func":[0],"length":1},` + ok), "the prefix of stack 0 is not an earlier stack"},
		{file(`"stackTable":{"length":1},"frameTable":{"func":[0],"length":1},` + ok), "the table has no column frame"},
		{file(`"stackTable":{"frame":[5],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},` + ok), "stack 0 has frame 5; frameTable has 1"},
		{file(`"stackTable":{"frame":[null],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},` + ok), "stack 0 has frame -2147483648; frameTable has 1"},
		{file(`"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"func":[1],"length":1},"funcTable":{"name":[0],"length":1},` + ok), "row 0 of frameTable.func is 1; want less than 1"},
		{file(`"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"length":1},"funcTable":{"name":[0],"length":1},` + ok), "the table has no column func"},
		{file(`"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},"funcTable":{"name":[7],"length":1},` + ok), "row 0 of funcTable.name is 7; want less than 1"},
		{file(`"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},"funcTable":{"length":1},` + ok), "the table has no column name"},
		{file(`"stackTable":{"frame":[0],"prefix":[null],"length":1},"frameTable":{"func":[0],"length":1},"funcTable":{"name":[0],"fileName":[2],"length":1},` + ok), "row 0 of funcTable.fileName is 2; want less than 1"},
		{sharedLate(`{"stack":[2],"time":[1],"length":1}`, `{"frame":[0,1],"prefixOffset":[0,1],"length":2}`), "there is no stack 2"},
		{`{"meta":{"preprocessedProfileVersion":75},"threads":[{"samples":{"stack":[0],"time":[1],"length":1}},{` + tables + `"name":"x"}]}`, "some threads have a stackTable, and others share one"},
		{`{"meta":{"preprocessedProfileVersion":75},"threads":[{` + tables + `"name":"x"},{"samples":{"stack":[0],"time":[1],"length":1}}]}`, "some threads have a stackTable, and others share one"},
		{file(`"markers":{"name":[0],"startTime":[1],"endTime":[null],"phase":[1],"data":[null],"length":1}`), "row 0 of markers has no time"},
		{file(`"markers":{"name":[0],"startTime":[1],"endTime":[null],"phase":[9],"data":[null],"length":1}`), "row 0 of markers has phase 9"},
		{file(`"markers":{"name":[4],"startTime":[1],"endTime":[null],"phase":[0],"data":[null],"length":1}`), "a marker of thread 0 has string 4 as its name; there are 1"},
		{file(`"markers":{"name":[null],"startTime":[1],"endTime":[null],"phase":[0],"data":[null],"length":1}`), "a marker of thread 0 has string"},
		{file(`"markers":{"startTime":[1],"length":1}`), "the table has no column name or no times"},
		{file(tables + `"markers":{"name":[0],"startTime":[1],"endTime":[null],"phase":[0],"data":[{"cause":{"stack":4}}],"length":1}`), "row 0 of markers has stack 4; stackTable has 1"},
		{file(`"name":"again"`), `member "name" occurs twice`},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[],"counters":[{"samples":{"length":1,"count":[1]}}]}`, "the table has no times or no column count"},
		{strings.Repeat("[", 20000), "want an object"},
	} {
		src, err := firefox.New(strings.NewReader(c.text), nil)
		if err == nil {
			src.Close()
			t.Errorf("%.200s: no error, want %s", c.text, c.want)
		} else if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "firefox: byte ") {
			t.Errorf("%.200s:\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
}

// TestOddities reads valid but rare input.
func TestOddities(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{file(`"samples":{"stack":[],"time":[],"length":0}`), nil},
		{file(`"samples":{"stack":[null],"time":[-5],"length":1}`), []string{"0 1/1 cpu Value=1 samples=1 time=1000000"}}, // before startTime
		{sharedLate(`{"stack":[1],"time":[1],"length":1}`, `{"frame":[0,1],"prefixOffset":[0,1],"length":2}`), []string{"1000000 1/1 cpu Value=1 samples=1 < a:0:0 :0 0 < a:0:0 :0 0"}},
		{file(`"markers":{"name":[0],"startTime":[2],"endTime":[1],"phase":[1],"data":["text"],"length":1}`), []string{`2000000 1/1 a X firefox a 0 {"data":"text"}`}},
		{file(`"samples":{"stack":[null],"time":[1],"weight":[-3],"length":1}`), []string{"1000000 1/1 cpu Value=0 samples=-3 time=-3000000"}},
		{`{"meta":{"preprocessedProfileVersion":57,"sampleUnits":{"time":"bytes"}},"threads":[{"samples":{"stack":[null],"time":[70],"weight":[8],"weightType":"bytes","length":1}}]}`,
			[]string{"0 1/1 cpu Value=8 bytes=8"}},
	} {
		if got := lines(t, open(t, []byte(c.text), nil)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestLimits checks the names of the limits.
func TestLimits(t *testing.T) {
	const head = `{"meta":{"preprocessedProfileVersion":57},"threads":[{`
	many := strings.Repeat("1,", 3000) + "1"
	for _, c := range []struct {
		text   string
		limits firefox.Limits
		want   string
	}{
		{head + `"name":"` + strings.Repeat("x", 1<<17), firefox.Limits{Value: 1 << 16}, firefox.LimitValue},
		{head + `"markers":{"data":[{"a":"` + strings.Repeat("x", 1<<17), firefox.Limits{Value: 1 << 16}, firefox.LimitValue},
		{head + `"samples":{"stack":[` + many + `]}}]}`, firefox.Limits{Tables: 10_000}, firefox.LimitTables},
		{head + `"samples":{"time":[` + many + `]}}]}`, firefox.Limits{Tables: 10_000}, firefox.LimitTables},
		{head + `"markers":{"data":[` + many + `]}}]}`, firefox.Limits{Tables: 10_000}, firefox.LimitTables},
		{head + `"stringArray":[` + strings.Repeat(`"",`, 3000) + `""]}]}`, firefox.Limits{Tables: 10_000}, firefox.LimitTables},
		{`{"meta":{"preprocessedProfileVersion":57},"threads":[{},{},{}]}`, firefox.Limits{Threads: 2}, firefox.LimitThreads},
	} {
		_, err := firefox.New(strings.NewReader(c.text), &firefox.Options{Limits: c.limits})
		var limit *ntconv.LimitError
		if !errors.As(err, &limit) || limit.Limit != c.want {
			t.Errorf("%v; want the limit %s", err, c.want)
		}
	}
}
