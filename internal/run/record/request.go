package record

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/diagnostics"
)

// ErrRequest means that a request for events is not valid.
var ErrRequest = errors.New("invalid request")

// A Request states which events a runtime must write. Providers are unique.
type Request struct {
	Providers []diagnostics.Provider
	// Rundown is the keywords of the events at the end that name all methods, 0 for none.
	Rundown uint64
}

// Add adds a provider. If the request has it already, both are asked for: the keywords of both, the higher level, and the
// events of both; arguments of both are joined.
func (r *Request) Add(p diagnostics.Provider) {
	i := slices.IndexFunc(r.Providers, func(q diagnostics.Provider) bool { return q.Name == p.Name })
	if i < 0 {
		p.Events = slices.Clone(p.Events)
		r.Providers = append(r.Providers, p)
		return
	}
	q := &r.Providers[i]
	q.Keywords |= p.Keywords
	q.Level = max(q.Level, p.Level)
	q.Arguments = joinArguments(q.Arguments, p.Arguments)
	if len(q.Events) == 0 || len(p.Events) == 0 {
		q.Events = nil // all events of one of them
		return
	}
	for _, id := range p.Events {
		if !slices.Contains(q.Events, id) {
			q.Events = append(q.Events, id)
		}
	}
	slices.Sort(q.Events)
}

// joinArguments returns the arguments of both, each key once: the first value of a key counts, but specifications of a
// DiagnosticSource are lines of one value.
func joinArguments(a, b string) string {
	if a == "" || b == "" || a == b {
		return a + strings.TrimPrefix(b, a)
	}
	list := splitArguments(a)
	for _, pair := range splitArguments(b) {
		key, value, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(list, func(one string) bool { return strings.HasPrefix(one, key+"=") })
		switch {
		case i < 0:
			list = append(list, pair)
		case key == filterSpecs && list[i] != pair:
			list[i] = strings.TrimSuffix(list[i], `"`) + "\n" + strings.Trim(value, `"`) + `"`
		}
	}
	return strings.Join(list, ";")
}

// splitArguments divides KEY=VALUE;KEY="VALUE" at the semicolons outside of quotes.
func splitArguments(text string) (list []string) {
	quoted, from := false, 0
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case ';':
			if !quoted {
				list, from = append(list, text[from:i]), i+1
			}
		}
	}
	return append(list, text[from:])
}

// ParseProviders parses providers in the syntax of dotnet-trace: NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]], separated by commas.
// Keywords are hexadecimal, all if they are empty; the level is a number from 0 to 5 or a name, informational (4) if it is
// empty. Arguments are KEY=VALUE;KEY="VALUE". Errors wrap ErrRequest.
func ParseProviders(text string) (list []diagnostics.Provider, err error) {
	for i, part := range splitProviders(text) {
		p, err := parseProvider(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%w: provider %d, %q: %w", ErrRequest, i+1, part, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// splitProviders divides a list at the commas outside of quotes. A part that is no provider, because it follows a comma in
// arguments without quotes, belongs to the arguments before it, as in Metrics=A,B.
func splitProviders(text string) (list []string) {
	quoted, from := false, 0
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted && !continuesArguments(text[from:i], text[i+1:]) {
				list, from = append(list, text[from:i]), i+1
			}
		}
	}
	return append(list, text[from:])
}

// continuesArguments reports whether the text after a comma belongs to the arguments of the provider before it: the
// provider has arguments, and up to the next comma there is no colon, which every provider with arguments or keywords has.
func continuesArguments(before, after string) bool {
	if strings.Count(before, ":") < 3 || strings.HasSuffix(before, `"`) {
		return false
	}
	next, _, _ := strings.Cut(after, ",")
	return !strings.Contains(next, ":")
}

func parseProvider(text string) (p diagnostics.Provider, err error) {
	parts := strings.SplitN(text, ":", 4)
	p.Name, p.Keywords, p.Level = parts[0], ^uint64(0), levelInformational
	if p.Name == "" || strings.ContainsAny(p.Name, "\x00\n\t ") {
		return p, errors.New("want a name, such as Microsoft-Windows-DotNETRuntime:0x8000:4")
	}
	if len(parts) > 1 && parts[1] != "" {
		word := strings.TrimPrefix(strings.ToLower(parts[1]), "0x")
		if p.Keywords, err = strconv.ParseUint(word, 16, 64); err != nil {
			return p, fmt.Errorf("keywords %q: want a hexadecimal number such as 0x8000", parts[1])
		}
	}
	if len(parts) > 2 && parts[2] != "" {
		if p.Level, err = parseLevel(parts[2]); err != nil {
			return p, err
		}
	}
	if len(parts) > 3 {
		p.Arguments = parts[3]
		if strings.Count(p.Arguments, `"`)%2 != 0 {
			return p, fmt.Errorf("arguments %q: a quotation mark is not closed", p.Arguments)
		}
	}
	return p, nil
}

// Levels of events.
const (
	levelInformational = 4
	levelVerbose       = 5
)

// levelNames are the names of levels by number.
var levelNames = [...]string{"logalways", "critical", "error", "warning", "informational", "verbose"}

func parseLevel(text string) (uint8, error) {
	if n, err := strconv.ParseUint(text, 10, 8); err == nil && n <= levelVerbose {
		return uint8(n), nil
	}
	for i, name := range levelNames {
		if strings.EqualFold(text, name) || i == levelInformational && strings.EqualFold(text, "info") {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("level %q: want a number from 0 to 5, or %s", text, strings.Join(levelNames[:], ", "))
}

// String returns the providers in the syntax of ParseProviders.
func (r *Request) String() string {
	var list []string
	for _, p := range r.Providers {
		text := fmt.Sprintf("%s:0x%x:%d", p.Name, p.Keywords, p.Level)
		if p.Arguments != "" {
			text += ":" + p.Arguments
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}
