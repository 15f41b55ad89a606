package command

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
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

// namesByFlag are names in a trace, by the flag that accepts them.
type namesByFlag map[string]map[string]bool

// namesIn returns the names that a flag accepts in the first of the given inputs that is a file or a directory, or nil
// if there is none, or it cannot be read. Errors are not reported: a shell has no place for them.
func (a *app) namesIn(args []string, flag string) []string {
	i := slices.IndexFunc(args, func(name string) bool {
		info, err := os.Stat(name) // a FIFO could be read only once, and could block
		return err == nil && (info.Mode().IsRegular() || info.IsDir() && input.IsDir(name, formats.Readable()))
	})
	if i < 0 {
		return nil
	}
	found := make(chan namesByFlag, 1)
	go func() {
		defer close(found)
		defer func() { _ = recover() }() // completion must not print a stack trace into the command line
		found <- a.readNames(args[i], time.Now().Add(completionTime))
	}()
	select {
	case names := <-found:
		return slices.Sorted(maps.Keys(names[flag]))
	case <-time.After(2 * completionTime): // the input blocks
		return nil
	}
}

// readNames returns the names in an input up to its end, or to the end of the time.
func (a *app) readNames(name string, end time.Time) namesByFlag {
	names := namesByFlag{}
	in, err := a.open([]string{name}, false)
	if err != nil {
		return names
	}
	defer in.Close()
	o := a.read
	o.Order = reader.FileOrder // without sorting, the first event is delivered at once
	src, closer, err := in.Source(&o)
	if err != nil {
		return names
	}
	defer closer.Close()
	var schemas schema.Table
	var processes recording.Names
	seen := map[any]bool{} // types and threads, and sets of names of processes
	isNew := func(key any) bool {
		known := seen[key]
		seen[key] = true
		return !known
	}
	const batch = 256 // events between two looks at the clock
	for n := 0; n%batch != 0 || time.Now().Before(end); n++ {
		e, err := src.Next()
		if err != nil {
			break
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		processes.Observe(e)
		if isNew(e.Type) {
			names.addType(e.Type, schemas.Of(e))
		}
		if e.Thread == nil {
			continue
		}
		if isNew(e.Thread) {
			names.add("thread-name", e.Thread.Name)
		}
		if set := processes.At(e.Thread.Process, e.Time); set != nil && isNew(set) {
			names.add("process", set.All()...)
		}
	}
	return names
}

// addType adds the names of a type.
func (n namesByFlag) addType(t *ntconv.Type, s *schema.Schema) {
	n.add("provider", t.Provider)
	n.add("drop-provider", t.Provider)
	n.add("event", s.Name)
	provider := scrub.ProviderName(t, s)
	n.add("provider-text", provider)
	for _, field := range scrub.FieldNames(s) {
		n.add("field", scrub.FieldPattern(provider, field))
	}
	for i := range s.Fields {
		if name := s.Fields[i].Name; !strings.ContainsAny(name, " .\"'") { // it would need quotes
			n.add("where", name)
		}
	}
}

// add adds names, except those that cannot be a word of a completion: shells separate them by newlines, and cobra
// separates their descriptions by tabs.
func (n namesByFlag) add(flag string, names ...string) {
	for _, name := range names {
		if name == "" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == ',' }) {
			continue
		}
		if n[flag] == nil {
			n[flag] = map[string]bool{}
		}
		n[flag][name] = true
	}
}

// completeNames sets the completions of the flags of a selection: names in the trace on the command line, or well-known
// names if there is no trace.
func (a *app) completeNames(cmd *cobra.Command) {
	none := func() []string { return nil }
	for flag, wellKnown := range map[string]func() []string{
		"provider": clr.ProviderNames, "event": clr.EventNames, "process": none, "thread-name": none,
	} {
		completeBy(cmd, flag, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			values := a.namesIn(args, flag)
			if len(values) == 0 {
				values = wellKnown()
			}
			return completeList(values, word), cobra.ShellCompDirectiveNoFileComp
		})
	}
	completeBy(cmd, "where", a.completeWhere)
}

// completeWhere completes the first word of an expression: a property, or a field of the trace on the command line.
func (a *app) completeWhere(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if strings.ContainsFunc(word, func(r rune) bool { return r != '$' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return nil, directive
	}
	values := where.OperandNames()
	if !strings.HasPrefix(word, "$") {
		values = append(values, a.namesIn(args, "where")...)
	}
	return withPrefix(values, word), directive
}

// withPrefix returns the names that begin with word.
func withPrefix(names []string, word string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// completeScrub sets the completions of the flags that select providers and fields of the trace on the command line.
func (a *app) completeScrub(cmd *cobra.Command) {
	for _, flag := range []string{"field", "provider-text", "drop-provider"} {
		completeBy(cmd, flag, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return withPrefix(a.namesIn(args, flag), word), cobra.ShellCompDirectiveNoFileComp
		})
	}
}
