package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
	"github.com/spf13/cobra"
)

// completionTime bounds the reading of a trace for completions: a longer wait after a key press is annoying. Traces of
// some 50 MB are read completely in this time. For larger ones, completion knows the names at their beginning.
const completionTime = 300 * time.Millisecond

// nameSets are names in a trace that flags of the selection accept.
type nameSets struct {
	providers, events, fields, processes, threads map[string]bool
	patterns, paths                               map[string]bool // providers and fields as the rules of scrub name them
}

// newNameSets returns empty sets.
func newNameSets() *nameSets {
	return &nameSets{
		map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}, map[string]bool{},
	}
}

// A traceReader collects the names of a trace until its time is over. The results are read while it may still be
// running, so a mutex guards them.
type traceReader struct {
	mu        sync.Mutex
	names     *nameSets
	processes recording.Names
	seen      map[*ntconv.Type]bool
	threads   map[*ntconv.Thread]bool
	known     map[*ntconv.Process]*recording.NameSet
}

// namesIn returns the names in the first of the given inputs that is a file or a directory, or nil if there is none, or
// it cannot be read. Errors are not reported: a shell has no place for them.
func (a *app) namesIn(args []string) *nameSets {
	i := slices.IndexFunc(args, func(name string) bool {
		info, err := os.Stat(name) // a FIFO could be read only once, and could block
		return err == nil && (info.Mode().IsRegular() || info.IsDir() && input.IsDir(name, formats.Readable()))
	})
	if i < 0 {
		return nil
	}
	r := &traceReader{
		names: newNameSets(), seen: map[*ntconv.Type]bool{}, threads: map[*ntconv.Thread]bool{},
		known: map[*ntconv.Process]*recording.NameSet{},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // completion must not print a stack trace into the command line
		r.read(a, args[i], time.Now().Add(completionTime))
	}()
	select {
	case <-done:
	case <-time.After(completionTime + completionTime/2): // the input blocks, or a single event takes this long
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := *r.names
	r.names = newNameSets() // what the reader finds from now on is discarded
	return &found
}

// read collects names until the end of the input or of the time.
func (r *traceReader) read(a *app, name string, end time.Time) {
	in, err := a.open([]string{name}, false)
	if err != nil {
		return
	}
	defer in.Close()
	o := a.read
	o.Order = reader.FileOrder // without sorting, the first event is delivered at once
	src, closer, err := in.Source(&o)
	if err != nil {
		return
	}
	defer closer.Close()
	var schemas schema.Table
	const batch = 256 // events between two looks at the clock
	for n := 0; n%batch != 0 || time.Now().Before(end); n++ {
		e, err := src.Next() // without the lock, because it may block
		if err != nil {
			return
		}
		if e.Kind == ntconv.KindEvent {
			r.add(e, &schemas)
		}
	}
}

// add adds the names of an event, its type, thread and process.
func (r *traceReader) add(e *ntconv.Event, schemas *schema.Table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes.Observe(e)
	if !r.seen[e.Type] {
		r.seen[e.Type] = true
		r.addType(e, schemas)
	}
	t := e.Thread
	if t == nil {
		return
	}
	if !r.threads[t] {
		r.threads[t] = true
		add(r.names.threads, t.Name)
	}
	if set := r.processes.At(t.Process, e.Time); set != nil && set != r.known[t.Process] {
		r.known[t.Process] = set
		for _, name := range set.All() {
			add(r.names.processes, name)
		}
	}
}

// addType adds the names of the type of an event.
func (r *traceReader) addType(e *ntconv.Event, schemas *schema.Table) {
	s := schemas.Of(e)
	add(r.names.providers, e.Type.Provider)
	add(r.names.events, s.Name)
	r.names.addScrubNames(scrub.ProviderName(e.Type, s), scrub.FieldNames(s))
	for i := range s.Fields {
		add(r.names.fields, s.Fields[i].Name)
	}
}

// add adds a name, unless it cannot be a word of a completion: shells separate them by newlines, and cobra separates
// their descriptions by tabs.
func add(set map[string]bool, name string) {
	if name != "" && len(name) <= 200 && !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == ',' }) {
		set[name] = true
	}
}

// completeNames sets the completions of the flags of a selection: names in the trace on the command line, or well-known
// names if there is no trace.
func (a *app) completeNames(cmd *cobra.Command) {
	for flag, of := range map[string]struct {
		inTrace func(*nameSets) map[string]bool
		known   func() []string
	}{
		"provider":    {func(n *nameSets) map[string]bool { return n.providers }, knownProviders},
		"event":       {func(n *nameSets) map[string]bool { return n.events }, knownEvents},
		"process":     {func(n *nameSets) map[string]bool { return n.processes }, nil},
		"thread-name": {func(n *nameSets) map[string]bool { return n.threads }, nil},
	} {
		completeBy(cmd, flag, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			var values []string
			if names := a.namesIn(args); names != nil {
				values = slices.Sorted(maps.Keys(of.inTrace(names)))
			}
			if len(values) == 0 && of.known != nil {
				values = of.known()
			}
			return completeList(values, word), cobra.ShellCompDirectiveNoFileComp
		})
	}
	completeBy(cmd, "where", a.completeWhere)
}

// completeWhere completes the first word of an expression: a property, or a field of the trace on the command line.
func (a *app) completeWhere(_ *cobra.Command, args []string, word string) (list []string, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if strings.ContainsFunc(word, func(r rune) bool { return r != '$' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return nil, directive
	}
	values := where.OperandNames()
	if names := a.namesIn(args); names != nil && !strings.HasPrefix(word, "$") {
		for _, field := range slices.Sorted(maps.Keys(names.fields)) {
			if !strings.ContainsAny(field, " .\"'") { // it would need quotes
				values = append(values, field)
			}
		}
	}
	for _, v := range values {
		if strings.HasPrefix(v, word) {
			list = append(list, v)
		}
	}
	return list, directive
}
