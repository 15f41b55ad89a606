package web

import (
	"cmp"
	"html/template"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
)

// Bounds on a page of source code.
const (
	maxListed      = 50   // functions
	maxListedLines = 2000 // lines of a function
	contextLines   = 5    // lines before and after lines with samples
)

// A value is the total of samples: with a function or line at the leaf, and anywhere in the stack.
type value struct{ flat, cum int64 }

// A listed is a function in a file, with the values of its lines.
type listed struct {
	name, file string
	total      value
	lines      map[int64]*value
}

// A place is a function in a file.
type place struct{ name, file string }

// A tally adds up values of functions and lines. A sample counts once for each of them, even if it appears several
// times in the stack.
type tally struct {
	functions map[place]*listed
	wanted    map[uint64]bool // by ID of a function
	seen      map[any]bool    // of the current sample: *listed and *value
}

// add adds a sample.
func (t *tally) add(s *profile.Sample, n int64) {
	clear(t.seen)
	for depth, l := range s.Location {
		for i, line := range l.Line {
			if line.Function == nil || !t.wanted[line.Function.ID] {
				continue
			}
			at := place{line.Function.Name, line.Function.Filename}
			f := t.functions[at]
			if f == nil {
				f = &listed{name: at.name, file: at.file, lines: map[int64]*value{}}
				t.functions[at] = f
			}
			v := f.lines[line.Line]
			if v == nil {
				v = &value{}
				f.lines[line.Line] = v
			}
			if depth == 0 && i == 0 {
				v.flat += n
				f.total.flat += n
			}
			if !t.seen[v] {
				t.seen[v] = true
				v.cum += n
			}
			if !t.seen[f] {
				t.seen[f] = true
				f.total.cum += n
			}
		}
	}
}

// list returns the functions that an address selects, those with the largest values first, and the sample type. It
// supports the settings f, i, h, s, sf and si of pprof's pages, and modifies the profile.
func list(p *profile.Profile, r *http.Request) (functions []*listed, typ *profile.ValueType, all int64, err error) {
	query := r.URL.Query()
	var expressions [5]*regexp.Regexp
	for i, key := range []string{"f", "i", "h", "s", "sf"} {
		text := query.Get(key)
		if text == "" {
			continue
		}
		if expressions[i], err = regexp.Compile(text); err != nil {
			return nil, nil, 0, &pageError{http.StatusBadRequest, err.Error()}
		}
	}
	index, err := p.SampleIndexByName(query.Get("si"))
	if err != nil {
		return nil, nil, 0, &pageError{http.StatusBadRequest, err.Error()}
	}
	all = total(p, index)
	p.FilterSamplesByName(expressions[0], expressions[1], expressions[2], expressions[3])
	p.ShowFrom(expressions[4])
	t := tally{functions: map[place]*listed{}, wanted: map[uint64]bool{}, seen: map[any]bool{}}
	for _, f := range p.Function {
		t.wanted[f.ID] = expressions[0] == nil || expressions[0].MatchString(f.Name)
	}
	for _, s := range p.Sample {
		t.add(s, s.Value[index])
	}
	functions = slices.SortedFunc(maps.Values(t.functions), func(a, b *listed) int {
		return cmp.Or(
			cmp.Compare(abs(b.total.flat), abs(a.total.flat)),
			cmp.Compare(abs(b.total.cum), abs(a.total.cum)),
			cmp.Compare(a.name, b.name),
			cmp.Compare(a.file, b.file),
		)
	})
	return functions, p.SampleType[index], all, nil
}

// around returns the numbers of the lines with values and of the lines near them, up to the displayed maximum.
func (f *listed) around() map[int64]bool {
	near := map[int64]bool{}
	for _, number := range slices.Sorted(maps.Keys(f.lines)) {
		if number < 1 || number > math.MaxInt32 || len(near) >= maxListedLines {
			continue
		}
		for n := max(1, number-contextLines); n <= number+contextLines; n++ {
			near[n] = true
		}
	}
	return near
}

// A shownFunction is the part of a page of source code about one function.
type shownFunction struct {
	Name, File, Path, Missing, Total string
	Lines                            []shownLine
}

// A shownLine is a line of source code with its values. Gap means that lines before it are omitted.
type shownLine struct {
	Gap             bool
	Number          int64 // 0 if unknown
	Flat, Cum, Text string
}

// show reads the lines of a function. Lines that the file does not have are shown without text.
func (f *listed) show(s *sources, format func(int64) string) shownFunction {
	shown := shownFunction{
		Name:  f.name,
		File:  f.file,
		Total: format(f.total.flat) + " flat, " + format(f.total.cum) + " cum",
	}
	text := map[int64]string{}
	lines, path, err := s.lines(f.file, f.around())
	if err != nil {
		shown.Missing = err.Error()
	}
	shown.Path = path
	for _, l := range lines {
		text[l.Number] = l.Text
	}
	numbers := maps.Clone(text)
	for n := range f.lines {
		numbers[n] = ""
	}
	sorted := slices.Sorted(maps.Keys(numbers))
	for i, n := range sorted[:min(len(sorted), maxListedLines)] {
		line := shownLine{Gap: i > 0 && n != sorted[i-1]+1, Number: n, Text: text[n]}
		if v := f.lines[n]; v != nil {
			line.Flat, line.Cum = format(v.flat), format(v.cum)
		}
		shown.Lines = append(shown.Lines, line)
	}
	return shown
}

// sourcePage creates the page of source code. It replaces pprof's own page, which opens any file that a profile names.
func (p *pages) sourcePage(w *response, r *http.Request) error {
	if len(p.sources.roots) == 0 {
		return &pageError{
			http.StatusNotFound,
			"source code is shown from directories that you permit: ntconv view --source DIR",
		}
	}
	functions, typ, total, err := list(p.profile.Copy(), r)
	if err != nil {
		return err
	}
	format := func(n int64) string { return formatValue(n, typ.Unit) }
	data := struct {
		Type, Total string
		Omitted     int
		Functions   []shownFunction
	}{Type: typ.Type, Total: format(total), Omitted: max(0, len(functions)-maxListed)}
	for _, f := range functions[:min(len(functions), maxListed)] {
		data.Functions = append(data.Functions, f.show(p.sources, format))
	}
	return p.render(w, sourceTemplate(), r, data)
}

// formatValue returns a value with its unit, and a point for 0.
func formatValue(n int64, unit string) string {
	if n == 0 {
		return "."
	}
	return message.Quantity(float64(n), unit)
}

var sourceTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("source").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Source: {{.Data.Type}}</title>
<style nonce="{{.Nonce}}">
body { font-family: sans-serif; margin: 1em } nav a { margin-right: 1em } h2 { font-size: 1em; margin: 2em 0 0 }
p { margin: 0.2em 0; color: #555 } table { border-spacing: 0; font-family: monospace; white-space: pre; tab-size: 4 }
td { padding: 0 0.5em; text-align: right } td:last-child { text-align: left } tr.hot { background: #fff3e0 }
</style></head><body>` + navigation + `
<p>{{.Data.Type}}, {{.Data.Total}} in total{{if .Data.Omitted}}; {{.Data.Omitted}} more functions: select some with f=EXPRESSION{{end}}</p>
{{range .Data.Functions}}<h2>{{.Name}}</h2><p>{{.Total}}</p><p>{{if .Path}}{{.Path}}{{else}}{{.File}}{{end}}{{if .Missing}}: {{.Missing}}{{end}}</p>
<table>{{range .Lines}}{{if .Gap}}<tr><td></td><td></td><td>…</td><td></td></tr>
{{end}}<tr{{if .Cum}} class="hot"{{end}}><td>{{.Flat}}</td><td>{{.Cum}}</td><td>{{if .Number}}{{.Number}}{{else}}?{{end}}</td><td>{{.Text}}</td></tr>
{{end}}</table>
{{else}}<p>No function matches.</p>
{{end}}</body></html>
`))
})
