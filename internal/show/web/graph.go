package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
)

// Bounds on a run of dot.
const (
	dotTime   = 30 * time.Second
	dotMemory = 1 << 30 // bytes, on systems that support the limit
	maxDot    = 4 << 20 // bytes of its input
	maxSVG    = 64 << 20
	maxNodes  = 500 // functions
)

// graphPage creates the page of the call graph. It replaces pprof's own page, which runs dot without bounds and inserts
// the output of dot into the page. Here the graph is an image, so that nothing in it can run or be loaded.
func (p *pages) graphPage(w *response, r *http.Request) error {
	if !p.graph {
		return &pageError{
			http.StatusNotFound,
			"the call graph is drawn by the program dot of Graphviz if you permit that: ntconv view --graph",
		}
	}
	text, err := p.graphText(r.URL.Query())
	if err != nil {
		return err
	}
	svg, err := runDot(r.Context(), text)
	if err != nil {
		return &pageError{http.StatusNotImplemented, err.Error()}
	}
	return p.render(w, graphTemplate(), r, template.URL("data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString(svg)))
}

// graphText returns the call graph in the language of dot. It supports the settings of pprof's pages that select
// samples.
func (p *pages) graphText(query url.Values) ([]byte, error) {
	names := map[string]string{
		"f": "focus", "i": "ignore", "prunefrom": "prune_from", "h": "hide", "s": "show", "sf": "show_from",
		"tf": "tagfocus", "ti": "tagignore", "ts": "tagshow", "th": "taghide", "si": "sample_index",
	}
	settings := (&TopOptions{Count: -1}).args()
	for key, name := range names {
		settings = append(settings, "-"+name+"="+query.Get(key))
	}
	if text := query.Get("n"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxNodes {
			return nil, &pageError{http.StatusBadRequest, fmt.Sprintf("n=%.20q: want 1 to %d", text, maxNodes)}
		}
		settings = append(settings, "-nodecount="+text)
	}
	if index, err := p.profile.SampleIndexByName(query.Get("si")); err == nil {
		settings = append(settings, "-unit="+smallestUnit(p.profile.SampleType[index]))
	}
	plain := p.profile.Copy()
	plainNames(plain)
	var text bytes.Buffer
	ui := &driverUI{}
	options := driverOptions(plain, ui, append(settings, "-dot", "-output=graph")...)
	options.Writer = driverWriter{&text}
	err := driver.PProf(options)
	forgetSettings(names)
	switch {
	case err != nil:
		return nil, &pageError{http.StatusBadRequest, err.Error()}
	case text.Len() > maxDot:
		return nil, &pageError{
			http.StatusBadRequest,
			fmt.Sprintf("the graph has more than %d MiB; select a part of the profile", maxDot>>20),
		}
	}
	return restate(text.Bytes(), graphValues()), nil
}

// forgetSettings resets the driver's settings to those for pages, because the driver keeps the settings of its last
// run.
func forgetSettings(names map[string]string) {
	settings := (&TopOptions{Count: -1}).args()
	for _, name := range names {
		settings = append(settings, "-"+name+"=")
	}
	options := driverOptions(nil, &driverUI{}, append(settings, "-dot", "-output=")...)
	options.Fetch = noFetch{}
	_ = driver.PProf(options) // fails, because there is no profile, but only after it has applied the settings
}

// noFetch has no profile.
type noFetch struct{}

func (noFetch) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return nil, "", errors.New("no profile")
}

// plainNames replaces the characters that could end a string in the language of dot in all names, because the driver
// does not escape all names.
func plainNames(p *profile.Profile) {
	replacer := strings.NewReplacer(`"`, "'", `\`, "/")
	plain := func(s string) string { return replacer.Replace(message.Line(s)) }
	for _, f := range p.Function {
		f.Name, f.SystemName, f.Filename = plain(f.Name), plain(f.SystemName), plain(f.Filename)
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = plain(m.File), plain(m.BuildID)
	}
	for _, t := range p.SampleType {
		t.Type, t.Unit = plain(t.Type), plain(t.Unit)
	}
	for i, c := range p.Comments {
		p.Comments[i] = plain(c)
	}
	p.DefaultSampleType, p.DocURL = plain(p.DefaultSampleType), plain(p.DocURL)
	for _, s := range p.Sample {
		s.Label = plainLabels(s.Label, plain)
		s.NumLabel, s.NumUnit = nil, nil // a box per number is not informative
	}
}

// plainLabels returns labels with replaced keys and values. Keys that become equal share their values.
func plainLabels(labels map[string][]string, plain func(string) string) map[string][]string {
	all := make(map[string][]string, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		for _, value := range labels[key] {
			all[plain(key)] = append(all[plain(key)], plain(value))
		}
	}
	return all
}

// runDot returns the graph that dot draws, as SVG.
func runDot(ctx context.Context, text []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, dotTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "dot", "-Tsvg")
	cmd.WaitDelay = time.Second
	// Versions of dot that know these variables then load no files.
	cmd.Env = append(os.Environ(), "SERVER_NAME=ntconv", "GV_FILE_PATH=")
	svg := &limitedBuffer{
		max:  maxSVG,
		full: fmt.Errorf("the image has more than %d MiB; select a part of the profile", maxSVG>>20),
	}
	errs := &limitedBuffer{max: 1000}
	cmd.Stdout, cmd.Stderr = svg, errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("dot: %w; install Graphviz", err)
	}
	err = limitMemory(cmd.Process.Pid, dotMemory) // before dot has any input
	if err == nil {
		_, _ = in.Write(text) // if dot ends early, its exit code is more informative
	}
	_ = in.Close()
	if waited := cmd.Wait(); err == nil {
		err = waited
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("dot took more than %v; select a part of the profile", dotTime)
	case err != nil:
		return nil, fmt.Errorf("dot: %w: %s", err, message.Line(string(errs.kept)))
	}
	return svg.kept, nil
}

// A limitedBuffer keeps the first max bytes. For the others it returns the error full, which may be nil. It does not
// embed a bytes.Buffer, whose ReadFrom has no limit.
type limitedBuffer struct {
	kept []byte
	max  int
	full error
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.max-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	if n < len(p) && b.full != nil {
		return n, b.full
	}
	return len(p), nil
}

var graphTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("graph").Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Graph</title>
<style nonce="{{.Nonce}}">body { font-family: sans-serif; margin: 1em } nav a { margin-right: 1em }</style></head><body>` + navigation + `
<p><img src="{{.Data}}" alt="call graph"></p></body></html>
`))
})
