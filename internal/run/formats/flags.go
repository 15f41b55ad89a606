package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
)

// ReadOptions are the options that all readable formats share. The flags of a single format belong to its Opener. The
// zero value reads in time order with the default limits.
type ReadOptions struct {
	Order           reader.Order
	Strict          bool
	AllowPrerelease bool
	Live            bool      // the input may grow: nothing is read after the end of a trace
	Start           time.Time // wall-clock time at which inputs without a date began; the zero Time means that it is unknown
	Limits          reader.Limits
	Report          *ntconv.Report
	// MaxTemp is the maximum size of each temporary file in bytes, 0 means no limit.
	MaxTemp int64
	// Memory is the limit on the live heap of the command in bytes; 0 means no limit. share derives from it how much of
	// one input may be in memory at a time.
	Memory int64
	// OutputDepth is the maximum number of frames per stack that the output accepts; 0 means no limit. DepthAdvice
	// names the flag that lifts it.
	OutputDepth int
	DepthAdvice string
}

// FlagFollow is the flag that sets ReadOptions.Live.
const FlagFollow = "follow"

// FlagStart is the flag that sets ReadOptions.Start.
const FlagStart = "start-time"

// BindRead defines the flags for reading an input: --order, --follow, --strict, --allow-prerelease and --start-time.
func (o *ReadOptions) BindRead(flags *pflag.FlagSet) {
	flags.Var(orderChoice(&o.Order), "order", "order of events: time or file")
	flags.BoolVar(&o.Live, FlagFollow, false, "read on at the end of a file that is still being written, until the trace ends or Ctrl-C "+
		"ends the reading; the output is then completed")
	flags.BoolVar(&o.Strict, "strict", false, "reject input that TraceEvent rejects, and write no output")
	flags.BoolVar(&o.AllowPrerelease, "allow-prerelease", false,
		"read traces of .NET Core 3.0 previews; detection is heuristic")
	flags.Var((*startValue)(&o.Start), FlagStart, "date and time at which an input without a date began: RFC 3339, or "+
		"seconds since 1970")
}

// A startValue is a flag for a time. The zero Time means that it is not set.
type startValue time.Time

// Set parses a date and time as where.ParseDate does, or seconds since 1970 with at most 9 decimals.
func (v *startValue) Set(s string) error {
	t, err := where.ParseDate(s)
	if err != nil {
		var ok bool
		if t, ok = parseSeconds(s); !ok {
			return errors.New("want a date and time such as 2026-11-21T06:52:53.5Z, or seconds since 1970 such as 1795243973.5")
		}
	}
	if t = t.UTC(); !time.Unix(0, t.UnixNano()).Equal(t) {
		return errors.New("want a date between 1678 and 2262")
	}
	*v = startValue(t)
	return nil
}

// parseSeconds parses decimal seconds since 1970. It rejects what float64 would round.
func parseSeconds(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 || strings.HasSuffix(s, ".") || strings.HasPrefix(s, "-") {
		return time.Time{}, false
	}
	nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	return time.Unix(seconds, int64(nanos)), err == nil
}

func (v *startValue) String() string {
	if t := time.Time(*v); !t.IsZero() {
		return t.Format(time.RFC3339Nano)
	}
	return ""
}

func (v *startValue) Type() string { return "date" }

func orderChoice(o *reader.Order) *choice[reader.Order] {
	return &choice[reader.Order]{
		value:   o,
		choices: []choiceValue[reader.Order]{{"time", reader.ByTime}, {"file", reader.FileOrder}},
	}
}

// OrderName returns the value of --order for o: "time" or "file".
func OrderName(o reader.Order) string { return orderChoice(&o).String() }

// A limitFlag is a flag and the limit that it sets.
type limitFlag struct {
	limit string // name of the limit in ntconv.LimitError; empty if exceeding the limit drops data and is not an error
	name  string // of the flag
	bind  func(flags *pflag.FlagSet, name string)
}

// limitFlags returns the flags for the limits of the reader. Each flag sets a member of l.
func limitFlags(l *reader.Limits) []limitFlag {
	d := reader.Limits{}.WithDefaults()
	size := func(v *int, def int, what string) func(*pflag.FlagSet, string) {
		return func(flags *pflag.FlagSet, name string) {
			flags.Var((*sizeValue)(v), name, what+" (default "+formatSize(int64(def))+")")
		}
	}
	count := func(v *int, def int, what string) func(*pflag.FlagSet, string) {
		return func(flags *pflag.FlagSet, name string) {
			flags.Var((*countValue)(v), name, what+" (default "+strconv.Itoa(def)+")")
		}
	}
	return []limitFlag{
		{reader.LimitBlockBytes, "max-block", size(&l.BlockBytes, d.BlockBytes, "maximum size of a block")},
		{reader.LimitTypes, "max-types", count(&l.Types, d.Types, "maximum number of event types in use")},
		{reader.LimitFields, "max-fields", count(&l.Fields, d.Fields, "maximum number of fields per event type")},
		{reader.LimitFieldDepth, "max-field-depth", count(&l.FieldDepth, d.FieldDepth, "maximum nesting depth of a field")},
		{reader.LimitName, "max-name", count(&l.Name, d.Name,
			"maximum length of a provider, event or field name: UTF-16 units, or bytes in version 6")},
		{reader.LimitThreads, "max-threads", count(&l.Threads, d.Threads, "maximum number of threads in use")},
		{reader.LimitLabelLists, "max-label-lists", count(&l.LabelLists, d.LabelLists,
			"maximum number of label lists per window")},
		{"", "max-stack", count(&l.StackDepth, d.StackDepth, "maximum stack depth; outer frames are dropped")},
		{reader.LimitTableBytes, "max-tables", size(&l.TableBytes, d.TableBytes,
			"maximum memory for event types, threads, stacks and label lists in use")},
		{"", "max-window-events", count(&l.WindowEvents, d.WindowEvents,
			"maximum number of events buffered for their order or types; larger windows are delivered in parts")},
		{"", "max-window", size(&l.WindowBytes, d.WindowBytes,
			"maximum bytes of events buffered for their order or types; larger windows are delivered in parts")},
	}
}

// compressionFlags returns the flags for the limits on compressed input.
func compressionFlags(l *fileio.Limits) []limitFlag {
	size := func(v *int64, what string) func(*pflag.FlagSet, string) {
		return func(flags *pflag.FlagSet, name string) { SizeFlag(flags, v, name, what) }
	}
	return []limitFlag{
		{fileio.LimitRatio, "max-ratio", func(flags *pflag.FlagSet, name string) {
			flags.Int64Var(&l.Ratio, name, l.Ratio,
				"maximum ratio of decompressed to compressed bytes beyond 64 MiB; 0 means no limit")
		}},
		{fileio.LimitOutput, "max-decompressed", size(&l.Output, "maximum number of decompressed bytes; 0 means no limit")},
		{fileio.LimitWindow, "max-zstd-window", size(&l.Window, "maximum window size of zstd data; 0 means no limit")},
	}
}

// quotaFlags returns the flag for the limit on the output.
func quotaFlags(q *fileio.Quota) []limitFlag {
	return []limitFlag{{fileio.LimitWritten, "max-output", func(flags *pflag.FlagSet, name string) {
		flags.Var((*quotaValue)(q), name, fmt.Sprintf("maximum bytes written or sent, before compression; 0 means no limit "+
			"(default %d times the decompressed input, and at least %s)", fileio.QuotaRatio, formatSize(fileio.QuotaFloor)))
	}}}
}

// BindQuota defines --max-output, which sets the limit of q.
func BindQuota(flags *pflag.FlagSet, q *fileio.Quota) {
	for _, f := range quotaFlags(q) {
		f.bind(flags, f.name)
	}
}

// DefaultTemp is the default of ReadOptions.MaxTemp: 64 GiB.
const DefaultTemp = 64 << 30

// FlagSpool is the flag that sets ReadOptions.MaxTemp.
const FlagSpool = "max-spool"

// BindLimits defines the flags for the limits of the reader and for the size of temporary files.
func (o *ReadOptions) BindLimits(flags *pflag.FlagSet) {
	for _, f := range limitFlags(&o.Limits) {
		f.bind(flags, f.name)
	}
	SizeFlag(flags, &o.MaxTemp, FlagSpool,
		"maximum size of each temporary file: the copy of a pipe that is read twice, or records to sort; 0 means no limit")
}

// BindCompression defines the flags for the limits on compressed input. The values of l are the defaults.
func BindCompression(flags *pflag.FlagSet, l *fileio.Limits) {
	for _, f := range compressionFlags(l) {
		f.bind(flags, f.name)
	}
}

// LimitFlag returns the flag that raises the limit of an ntconv.LimitError in err, such as "--max-types": one of
// BindLimits, BindCompression or BindQuota, or --max-memory. It returns "" if err wraps no LimitError or no flag raises
// its limit.
func LimitFlag(err error) string {
	var exceeded *ntconv.LimitError
	if !errors.As(err, &exceeded) {
		return ""
	}
	for _, f := range slices.Concat(limitFlags(new(reader.Limits)), compressionFlags(new(fileio.Limits)), quotaFlags(new(fileio.Quota))) {
		if f.limit != "" && f.limit == exceeded.Limit {
			return "--" + f.name
		}
	}
	if followsMemory(exceeded.Limit, exceeded.Value) {
		return "--" + FlagMemory
	}
	switch exceeded.Limit {
	case spool.LimitSize:
		return "--" + FlagSpool
	// Importers of JSON profiles report these limits of flags under names of their own.
	case imported.LimitTables:
		return "--max-tables"
	case imported.LimitThreads:
		return "--max-threads"
	}
	return ""
}

// SizeFlag defines a flag for a number of bytes with an optional unit, such as "64MiB". The value of v is the default.
func SizeFlag(flags *pflag.FlagSet, v *int64, name, usage string) {
	flags.Var((*size64Value)(v), name, usage)
}

// A choiceValue is a named value of a choice.
type choiceValue[T comparable] struct {
	name  string
	value T
}

// parseSet returns the set of the values that a comma-separated list names.
func parseSet[T ~uint8 | ~uint16 | ~uint32](all []choiceValue[T], list string) (set T, err error) {
	for word := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(c choiceValue[T]) bool { return c.name == strings.TrimSpace(word) })
		if i < 0 {
			var names []string
			for _, c := range all {
				names = append(names, c.name)
			}
			return 0, fmt.Errorf("%q: want a list of %s", word, strings.Join(names, ", "))
		}
		set |= all[i].value
	}
	return set, nil
}

// setNames returns the names of the elements of a set, separated by commas.
func setNames[T ~uint8 | ~uint16](all []choiceValue[T], set T) string {
	var names []string
	for _, c := range all {
		if c.value&(c.value-1) == 0 && set&c.value != 0 {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ",")
}

// A choice is a flag whose value is one of several names.
type choice[T comparable] struct {
	value   *T
	choices []choiceValue[T]
}

func (c *choice[T]) Set(s string) error {
	for _, n := range c.choices {
		if n.name == s {
			*c.value = n.value
			return nil
		}
	}
	return fmt.Errorf("want %s", c.Type())
}

func (c *choice[T]) String() string {
	if c.value == nil {
		return ""
	}
	for _, n := range c.choices {
		if n.value == *c.value {
			return n.name
		}
	}
	return ""
}

// Type returns the names separated by "|". The help shows them in place of a type, and Choices splits them.
func (c *choice[T]) Type() string {
	var names []string
	for _, n := range c.choices {
		names = append(names, n.name)
	}
	return strings.Join(names, "|")
}

// Choice returns a flag whose value is one of names, and sets value to the default, the first name.
func Choice(value *string, names ...string) pflag.Value {
	c := &choice[string]{value: value}
	for _, n := range names {
		c.choices = append(c.choices, choiceValue[string]{n, n})
	}
	*value = names[0]
	return c
}

// Choices returns the values that completion offers for a flag made by Choice or another choice, nil for other flags.
func Choices(f *pflag.Flag) []string {
	if !strings.Contains(f.Value.Type(), "|") {
		return nil
	}
	return strings.Split(f.Value.Type(), "|")
}

type countValue int

func (v *countValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return fmt.Errorf("want a positive number")
	}
	*v = countValue(n)
	return nil
}

func (v *countValue) String() string {
	if *v == 0 {
		return ""
	}
	return strconv.Itoa(int(*v))
}

func (v *countValue) Type() string { return "n" }

type sizeValue int

func (v *sizeValue) Set(s string) error {
	n, err := parseSize(s)
	if err != nil || int64(int(n)) != n || n == 0 {
		return errSize
	}
	*v = sizeValue(n)
	return nil
}

func (v *sizeValue) String() string { return formatSize(int64(*v)) }
func (v *sizeValue) Type() string   { return "size" }

type size64Value int64

func (v *size64Value) Set(s string) error {
	n, err := parseSize(s)
	if err == nil {
		*v = size64Value(n)
	}
	return err
}

func (v *size64Value) String() string { return formatSize(int64(*v)) }
func (v *size64Value) Type() string   { return "size" }

type quotaValue fileio.Quota

func (v *quotaValue) Set(s string) error {
	n, err := parseSize(s)
	if err == nil {
		(*fileio.Quota)(v).SetMax(n)
	}
	return err
}

func (v *quotaValue) String() string {
	n, _ := (*fileio.Quota)(v).Max()
	return formatSize(n)
}

func (v *quotaValue) Type() string { return "size" }

var errSize = fmt.Errorf("want a number of bytes, which may end in KiB, MiB, GiB or TiB")

var sizeUnits = [...]string{"", "K", "M", "G", "T"}

// parseSize parses "4096", "64MiB", "64M" or "64mb". Units that end in B without an i are powers of 1000, others of
// 1024.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTiBkmgtb")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, errSize
	}
	name, step := strings.ToUpper(s[len(digits):]), int64(1024)
	unit := strings.TrimSuffix(strings.TrimSuffix(name, "B"), "I")
	if name == unit+"B" {
		step = 1000
	}
	i := slices.Index(sizeUnits[:], unit)
	for ; i > 0 && n <= math.MaxInt64/step; i-- {
		n *= step
	}
	if i != 0 {
		return 0, errSize
	}
	return n, nil
}

// formatSize returns n in the largest unit that divides it, and "" for 0, so that help shows no default for "no limit".
func formatSize(n int64) string {
	if n == 0 {
		return ""
	}
	i := 0
	for n%1024 == 0 && i < len(sizeUnits)-1 {
		n /= 1024
		i++
	}
	if i == 0 {
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10) + sizeUnits[i] + "iB"
}

// NamesFlag defines the flag --names and those of SymbolFlags for commands that show symbols. The result is valid after
// the flags are parsed.
func NamesFlag(flags *pflag.FlagSet) *symbol.Options {
	o := new(symbol.Options)
	flags.Var(&choice[symbol.Names]{
		value: &o.Names,
		choices: []choiceValue[symbol.Names]{
			{"pretty", symbol.NamesPretty}, {"short", symbol.NamesShort}, {"raw", symbol.NamesRaw},
		},
	}, "names", "spelling of .NET methods: pretty as in C#, short without namespaces and type arguments, raw as the "+
		"runtime records them")
	SymbolFlags(flags, o)
	return o
}
