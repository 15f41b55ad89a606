package web

import (
	"bytes"
	_ "embed"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
)

// pageScript has functions that patches call.
//
//go:embed page.js
var pageScript string

// A patch replaces a part of the script of one of pprof's pages. The part contains a character that pprof's templates
// escape in names, so that no name contains it.
type patch struct{ before, after string }

// searchPatch makes the search of a page find what it shows.
func searchPatch() patch {
	return patch{"return re != null && re.test(text);", "return re != null && re.test(shownName(text, search.value));"}
}

// topPatches are those of the table, which fails without rows.
func topPatches() []patch {
	const table = "<script>\n    function makeTopTable(total, entries) {"
	return []patch{
		searchPatch(),
		{table, "<script>\n" + pageScript + strings.TrimPrefix(table, "<script>\n") + "\n      entries = entries || [];"},
	}
}

// flamePatches are those of the flame graph: search, the share of the matches, and units.
func flamePatches() []patch {
	const units, loop = "<script>\n    pprofUnitDefs = ", "i < stacks.Sources.length; i++) {\n          const src = stacks.Sources[i];\n          if (re.test("
	const cleared, marked = "leftDetailBox.innerText = '';\n    rightDetailBox.innerText = ", "toggleClass(src, 'hilite', on);"
	return []patch{
		searchPatch(),
		{loop + "src.UniqueName)", loop + "shownName(src.UniqueName, val))"},
		{cleared, cleared + "matchText(matches, pivots, stacks, percentText) + "},
		{marked, marked + "\n    clearTimeout(matchAlarm);\n    matchAlarm = setTimeout(clearDetails, 0);"},
		{units, "<script>\n" + pageScript + strings.TrimPrefix(units, "<script>\n")},
	}
}

// smallestUnit returns the unit of pprof in which all values of a sample type are integers; other units are "minimum",
// which leaves the choice to pprof.
func smallestUnit(of *profile.ValueType) string {
	switch of.Unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds":
		return "ns"
	case "bytes", "kilobytes", "megabytes":
		return "B"
	}
	return "minimum"
}

// exact returns a request for the same page with exact values, which the page then formats. By default, pprof chooses
// the unit of all values by the smallest one.
func (p *pages) exact(r *http.Request) *http.Request {
	query := r.URL.Query()
	index, err := p.profile.SampleIndexByName(query.Get("si"))
	if err != nil {
		return r // the driver says so
	}
	query.Set("unit", smallestUnit(p.profile.SampleType[index]))
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return r
}

// apply applies patches to a page, and formats its values as all other output.
func (w *response) apply(list []patch) error {
	body := w.body.Bytes()
	for _, p := range list {
		if !bytes.Contains(body, []byte(p.before)) {
			return errors.New("the page is not that of the supported version of pprof, so it is not shown")
		}
		body = bytes.Replace(body, []byte(p.before), []byte(p.after), 1)
	}
	body = restate(body, shownValues())
	if before, rest, ok := bytes.Cut(body, []byte("<pre>")); ok {
		text, after, _ := bytes.Cut(rest, []byte("</pre>"))
		body = bytes.Join([][]byte{before, []byte("<pre>"), restateColumns(text, restated), []byte("</pre>"), after}, nil)
	}
	w.body = *bytes.NewBuffer(body)
	return nil
}

// Parts of pprof's output. Commands without reports do not compile them.
var (
	// pprofValue matches a value with a unit, as pprof formats it.
	pprofValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?(?:[kMGTP]?B|[num]?s)\b`)
	})
	// shownValues matches the parts of a page with values: columns of the table, and lines of the description.
	shownValues = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:Flat|Cum)Format":"[^"]*"|<div>(?:Duration: |Showing nodes accounting for |Dropped )[^<]*`)
	})
	// columns matches the beginning of a line of a report in text, up to a name, and a line of its description.
	columns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?: *\S+ +\S+%(?: +\S+% +\S+ +\S+%)? +|(?:Duration: |Showing nodes |Dropped ).*)`)
	})
	// graphValues matches the parts of a graph with values: of nodes, of edges, and of its description.
	graphValues = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\n(?:of )?[0-9.]+[A-Za-z]+\b|label=" [^"]*"|\([0-9.]+[A-Za-z]+\)"|\\l(?:Duration: |Showing nodes |Dropped )[^\\]*`)
	})
	// columnValue is pprofValue with the spaces before it.
	columnValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` *` + pprofValue().String()) })
)

// restate formats the values in the parts of a text that an expression matches.
func restate(text []byte, parts *regexp.Regexp) []byte {
	return parts.ReplaceAllFunc(text, func(part []byte) []byte { return pprofValue().ReplaceAllFunc(part, restated) })
}

// restateColumns formats the values in a report. A value takes spaces before it so that columns stay in place.
func restateColumns(report []byte, format func([]byte) []byte) []byte {
	return columns().ReplaceAllFunc(report, func(line []byte) []byte {
		if line[0] != ' ' && (line[0] < '0' || line[0] > '9') {
			return pprofValue().ReplaceAllFunc(line, format)
		}
		return columnValue().ReplaceAllFunc(line, func(padded []byte) []byte {
			value := bytes.TrimLeft(padded, " ")
			space := len(padded) - len(value)
			text := bytes.ReplaceAll(format(value), []byte(" "), nil)
			if space > 0 {
				space = max(1, len(padded)-len(text))
			}
			if bytes.HasPrefix(line, padded) { // nothing precedes it
				space = max(0, len(padded)-len(text))
			}
			return append(bytes.Repeat([]byte(" "), space), text...)
		})
	})
}

// restated returns a value of pprof as message.Quantity formats it.
func restated(value []byte) []byte {
	i := bytes.LastIndexAny(value, "0123456789") + 1
	x, _ := strconv.ParseFloat(string(value[:i]), 64) // pprofValue matches only numbers
	unit := string(value[i:])
	if size, ok := strings.CutSuffix(unit, "B"); ok {
		return []byte(message.Quantity(x*float64(int64(1)<<(10*strings.Index(" kMGTP", size))), "bytes"))
	}
	nanos := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
	return []byte(message.Quantity(x*nanos[unit], "nanoseconds"))
}

// renamed returns a value of pprof with the right name of a unit of bytes, which is a power of 1024.
func renamed(value []byte) []byte {
	if size, ok := bytes.CutSuffix(value, []byte("B")); ok && bytes.ContainsAny(size, "kMGTP") {
		return append(bytes.Replace(size, []byte("k"), []byte("K"), 1), "iB"...)
	}
	return value
}
