package perfettocheck

import (
	"slices"
	"strings"
	"testing"
)

const (
	thread1 = `"pid":1,"tid":2,`
	slice   = `{"ph":"X","name":"s","cat":"c",` + thread1 + `"ts":0,"dur":100}`
)

// A ruleCase contains events that violate a rule and events that satisfy it. Events are put into an object, unless a
// case begins with "file".
type ruleCase struct{ rule, bad, good string }

func fileCases() []ruleCase {
	return []ruleCase{
		{RuleStart, `file []`, `file {"traceEvents":[]}`},
		{RuleStart, `file {}`, `file [{"ph":"M","name":"x","pid":1}]`},
		{RuleStart, `file null`, "file  \n[ {\n\"ph\":\"M\",\"pid\":1}]"},
		{RuleSyntax, `file {"traceEvents":[` + slice, `file [` + slice},
		{RuleSyntax, `file [` + slice + `,}]`, `file [` + slice + `,]`},
		{RuleSyntax, `file {"traceEvents":1}`, `file [` + slice + `,`},
		{RulePhase, `{"name":"x",` + thread1 + `"ts":1}`, slice},
		{RuleID, `{"ph":"i","pid":4294967296,"tid":1,"ts":1}`, `{"ph":"i","pid":4294967295,"tid":1,"ts":1}`},
		{RuleID, `{"ph":"i","pid":1,"tid":"main","ts":1}`, `{"ph":"i","pid":1,"tid":1,"ts":1}`},
		{RuleID, `{"ph":"i","pid":1,"tid":-1,"ts":1}`, `{"ph":"i","pid":1,"tid":2,"ts":1}`},
		{RuleID, `{"ph":"i","pid":1,"ts":1}`, `{"ph":"M","name":"process_labels","pid":1}`},
		{RuleTime, `{"ph":"i",` + thread1 + `"ts":-0.001}`, `{"ph":"i",` + thread1 + `"ts":0}`},
		{RuleTime, `{"ph":"i",` + thread1 + `"ts":"1"}`, `{"ph":"i",` + thread1 + `"ts":1}`},
		{RuleTime, `{"ph":"i",` + thread1 + `"name":"x"}`, `{"ph":"i",` + thread1 + `"ts":0.000}`},
		{RulePrecision, `{"ph":"i",` + thread1 + `"ts":1700000000000000.123}`, `{"ph":"i",` + thread1 + `"ts":8999999999999.123}`},
		{RulePrecision, `{"ph":"i",` + thread1 + `"ts":1.5e3}`, `{"ph":"i",` + thread1 + `"ts":1500.001}`},
		{RulePrecision, `{"ph":"i",` + thread1 + `"ts":1.0005}`, `{"ph":"i",` + thread1 + `"ts":1.500}`},
	}
}

func sliceCases() []ruleCase {
	return []ruleCase{
		{
			RuleNesting, slice + `,{"ph":"X",` + thread1 + `"ts":50,"dur":50.001}`,
			slice + `,{"ph":"X",` + thread1 + `"ts":50,"dur":50},{"ph":"X",` + thread1 + `"ts":100,"dur":1}`,
		},
		{
			RuleNesting, `{"ph":"B",` + thread1 + `"ts":50},{"ph":"E",` + thread1 + `"ts":200},` + slice,
			`{"ph":"B",` + thread1 + `"ts":50},{"ph":"E",` + thread1 + `"ts":99},` + slice,
		},
		{RuleBalance, `{"ph":"B",` + thread1 + `"ts":1}`, `{"ph":"B",` + thread1 + `"ts":1},{"ph":"E",` + thread1 + `"ts":1}`},
		{RuleBalance, `{"ph":"E",` + thread1 + `"ts":1}`, `{"ph":"B",` + thread1 + `"ts":1},{"ph":"E",` + thread1 + `"ts":2}`},
		{RuleBalance, `{"ph":"b","id":1,` + thread1 + `"ts":1}`, `{"ph":"b","id":1,` + thread1 + `"ts":1},{"ph":"e","id":1,` + thread1 + `"ts":1}`},
		{RuleBalance, `{"ph":"e","id":1,` + thread1 + `"ts":1}`, `{"ph":"n","id":1,` + thread1 + `"ts":1}`},
		{RuleInstant, `{"ph":"i","s":"x",` + thread1 + `"ts":1}`, `{"ph":"i","s":"p",` + thread1 + `"ts":1}`},
		{RuleCounter, `{"ph":"C",` + thread1 + `"ts":1,"args":{"v":"high"}}`, `{"ph":"C",` + thread1 + `"ts":1,"args":{"v":1.5}}`},
		{RuleCounter, `{"ph":"C",` + thread1 + `"ts":1}`, `{"ph":"C",` + thread1 + `"ts":1,"args":{"v":0}}`},
		{RuleAsync, `{"ph":"b",` + thread1 + `"ts":1}`, `{"ph":"n","id2":{"local":"0x1"},` + thread1 + `"ts":1}`},
		{
			RuleAsync, `{"ph":"b","id":1,"name":"a",` + thread1 + `"ts":1},{"ph":"e","id":1,"name":"b",` + thread1 + `"ts":1}`,
			`{"ph":"b","id":1,"name":"a",` + thread1 + `"ts":1},{"ph":"e","id":1,"name":"a",` + thread1 + `"ts":1}`,
		},
		{
			RuleAsync, `{"ph":"b","id":1,"pid":1,"tid":1,"ts":1},{"ph":"e","id":1,"pid":1,"tid":2,"ts":1}`,
			`{"ph":"b","id":1,"pid":1,"tid":1,"ts":1},{"ph":"e","id":1,"pid":1,"tid":1,"ts":1}`,
		},
	}
}

func otherCases() []ruleCase {
	return []ruleCase{
		{
			RuleFlow, slice + `,{"ph":"s","id":1,` + thread1 + `"ts":101},{"ph":"f","id":1,` + thread1 + `"ts":102}`,
			slice + `,{"ph":"s","id":1,` + thread1 + `"ts":1},{"ph":"f","id":1,` + thread1 + `"ts":2}`,
		},
		{RuleFlow, slice + `,{"ph":"s","id":1,` + thread1 + `"ts":1}`, slice},
		{
			RuleFlow, slice + `,{"ph":"s","id":1,"name":"a",` + thread1 + `"ts":1},{"ph":"f","id":1,"name":"b",` + thread1 + `"ts":2}`,
			slice + `,{"ph":"s","id":1,"name":"a",` + thread1 + `"ts":1},{"ph":"f","id":1,"name":"a",` + thread1 + `"ts":2}`,
		},
		{
			RuleFlow, slice + `,{"ph":"s","id":1,` + thread1 + `"ts":5},{"ph":"f","id":1,` + thread1 + `"ts":2}`,
			slice + `,{"ph":"s","id":1,` + thread1 + `"ts":2},{"ph":"f","id":1,` + thread1 + `"ts":2}`,
		},
		{RuleMetadata, `{"ph":"M","name":"process_name","pid":1,"args":{"name":1}}`, `{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}}`},
		{RuleMetadata, `{"ph":"M","name":"thread_sort_index",` + thread1 + `"args":{}}`, `{"ph":"M","name":"thread_sort_index",` + thread1 + `"args":{"sort_index":-1}}`},
		{RuleProfile, chunk(`"samples":[1],"nodes":[{"id":1}]`, `5,6`), profile + chunk(`"samples":[1],"nodes":[{"id":1}]`, `5`)},
		{RuleProfile, profile + chunk(`"samples":[1],"nodes":[{"id":1}]`, `5,6`), profile + chunk(`"nodes":[{"id":1}]`, ``)},
		{RuleProfile, profile + chunk(`"samples":[2],"nodes":[{"id":1}]`, `5`), profile + chunk(`"samples":[2],"nodes":[{"id":1},{"id":2,"parent":1}]`, `5`)},
		{RuleProfile, profile + chunk(`"nodes":[{"id":2,"parent":1},{"id":1}]`, ``), profile},
		{RuleSamples, `file {"traceEvents":[],"samples":[]}`, `file {"traceEvents":[],"metadata":{}}`},
		{RuleInteger, `{"ph":"i",` + thread1 + `"ts":1,"args":{"a":[{"b":9223372036854775808}]}}`, `{"ph":"i",` + thread1 + `"ts":1,"args":{"a":[{"b":9223372036854775807}]}}`},
	}
}

func TestRules(t *testing.T) {
	for _, c := range slices.Concat(fileCases(), sliceCases(), otherCases()) {
		check := func(text string, want bool) {
			file, ok := strings.CutPrefix(text, "file ")
			if !ok {
				file = `{"traceEvents":[` + strings.TrimSuffix(text, ",") + `]}`
			}
			r := Check(strings.NewReader(file))
			found := false
			for _, f := range r.Findings {
				found = found || f.Rule == c.rule
			}
			if found != want || !want && len(r.Findings) > 0 {
				t.Errorf("%s: %v\n%s", c.rule, r.Findings, file)
			}
		}
		check(c.bad, true)
		check(c.good, false)
	}
}

const profile = `{"ph":"P","name":"Profile","id":"0x1",` + thread1 + `"ts":1,"args":{"data":{"startTime":1}}},`

func chunk(cpuProfile, deltas string) string {
	return `{"ph":"P","name":"ProfileChunk","id":"0x1",` + thread1 + `"ts":1,"args":{"data":{"cpuProfile":{` + cpuProfile + `},"timeDeltas":[` + deltas + `]}}}`
}

// TestCounts counts one element of each kind.
func TestCounts(t *testing.T) {
	events := []string{
		slice, `{"ph":"B",` + thread1 + `"ts":1},{"ph":"E",` + thread1 + `"ts":2}`, `{"ph":"i",` + thread1 + `"ts":1}`,
		`{"ph":"C",` + thread1 + `"ts":1,"args":{"a":1,"b":2}}`, `{"ph":"b","id":1,` + thread1 + `"ts":1},{"ph":"e","id":1,` + thread1 + `"ts":1}`,
		`{"ph":"s","id":1,` + thread1 + `"ts":1},{"ph":"f","id":1,` + thread1 + `"ts":2}`, strings.TrimSuffix(profile, ","),
		chunk(`"samples":[1,1],"nodes":[{"id":1}]`, `5,6`),
	}
	r := Check(strings.NewReader("[" + strings.Join(events, ",") + "]"))
	if r.Slices != 2 || r.Instants != 1 || r.Counters != 2 || r.Async != 1 || r.Flows != 1 || r.Samples != 2 || r.Events != 11 || len(r.Findings) > 0 {
		t.Errorf("%+v", r)
	}
}
