package command

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) topCmd() *cobra.Command {
	var r ranking
	t := &liveTop{rank: &r, length: recordTime(10 * time.Second)}
	asJSON, isLive := false, slices.Contains(a.words, "--"+flagLive)
	cmd := &cobra.Command{
		Use:   "top IN",
		Short: "List the functions with most samples",
		Long: "List the functions with most samples of a trace or of a pprof profile, as go tool pprof -top does:\n" +
			"flat is the time (or other value) of the function itself, cum includes its callees." + liveTopHelp + "\n\n" + topDetails,
		Example: topExamples(),
		Args: func(cmd *cobra.Command, args []string) error {
			if isLive {
				return nil
			}
			return oneInput(cmd, args)
		},
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			if isLive {
				return a.topLive(cmd, t, args, asJSON)
			}
			if err := needsLive(cmd); err != nil {
				return err
			}
			r.in = args[0]
			return a.top(cmd, &r, asJSON)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.IntVarP(&r.options.Count, "count", "n", 20, "maximum number of `functions`; 0 means all")
			flags.BoolVar(&r.options.Cum, "cum", false, "sort by cumulative values, which include callees")
			flags.StringVar(&r.options.Focus, "focus", "",
				"keep only stacks with a function that matches this regular `expression`")
			flags.BoolVar(&asJSON, "json", false, "print a JSON object, with exact values")
			flags.StringVar(
				&r.options.SampleType,
				flagSampleType,
				"",
				"`name` of the sample type to rank by, NAME#2 for the second with that name (default: as the profile states)",
			)
			r.bind(flags, isLive)
		})
		t.bind(cmd, &isLive)
		a.addInputFlags(cmd)
	})
}

func topExamples() string {
	return examples(
		"where the time went", "ntconv top trace.nettrace",
		"the first 50 by cumulative time", "ntconv top --cum -n 50 trace.nettrace",
		"only stacks with a matching function", "ntconv top --focus 'Serializ' trace.nettrace",
		"only methods of the program, with the time of the framework that they called",
		"ntconv top --just-my-code trace.nettrace",
		"types of allocated objects", "ntconv top --kind alloc trace.nettrace",
		"methods of the program that throw exceptions",
		"ntconv top --kind exceptions --type-as label --just-my-code trace.nettrace",
		"why garbage collections suspended the program",
		"ntconv top --kind gc --tagleaf dotnet.gc.reason trace.nettrace",
		"only samples during some requests", "ntconv top --during 'span.name =~ \"GET /cart\"' trace.nettrace",
		"changes since an earlier recording, in percent of it", "ntconv top --diff-base old.nettrace new.nettrace",
		"an existing profile", "ntconv top trace.pb.gz",
		"where a running process spends its time now", "ntconv top --live -p 42",
		"who allocates in the process called shop, over the last 30 seconds", "ntconv top --live --name shop --kind alloc,exceptions --window 30s",
	)
}

// topDetails is the part of the help about differences and JSON.
const topDetails = `Percentages are of all samples, including those that --focus, --tagfocus and --tagignore drop.

--diff-base OLD subtracts the profile of another trace or profile. Functions with more than in OLD have positive
values, functions with less have negative values, and percentages are of the total of OLD, without a sign. --base OLD is
for profiles of one process that continue each other: samples with equal stacks and labels are subtracted first, and
percentages are of the remaining total of both. Both work as in pprof. All flags apply to both inputs, and each input has its own
summary on standard error.

--json prints one object:

  input, base        names of the inputs; base only with --base or --diff-base
  kind               of the profile, as --kind names it
  estimate           how the values were estimated, with the standard errors; absent for counts
  sample_type, unit  of all values, such as wall and nanoseconds
  time               start of the recording in RFC 3339; absent if unknown
  duration_ns        of the recording; absent if unknown
  total              the value that is 100%
  functions          number of functions in the selected samples
  rows               at most --count objects, sorted as in the report: function, flat, flat_percent, cum, cum_percent,
                     where a percentage has the sign of its value`

func (a *app) top(cmd *cobra.Command, r *ranking, asJSON bool) error {
	if n := r.options.Count; n < 0 {
		return failf(exitUsage, "-n %d: want a number of functions", n)
	}
	p, partial, err := a.profileOf(cmd, r)
	if err != nil {
		return err
	}
	names := namesOf(p, r.options.UsesLabels())
	report, unmatched, err := r.report(p, a.sum.Result, asJSON)
	if err != nil {
		return r.reportFailure(err, cmd.Name(), names)
	}
	a.noteUnmatched(r, unmatched, names)
	a.memory.Stop()
	if err := a.show(report); err != nil {
		return err
	}
	a.sum.Done = true
	return partial
}

// report returns a profile as text or as JSON. of is the result of the conversion to the profile. unmatched are the
// options that match no sample.
func (r *ranking) report(p *profile.Profile, of formats.Result, asJSON bool) (text string, unmatched []string, err error) {
	if !asJSON {
		return web.Top(p, &r.options)
	}
	object := rankingJSON{Input: r.in, Base: r.base + r.diffBase, Duration: p.DurationNanos}
	object.Kind, object.Estimate = formats.ProfileKind(of), formats.Estimate(of)
	if p.TimeNanos != 0 {
		object.Time = time.Unix(0, p.TimeNanos).UTC().Format(time.RFC3339Nano)
	}
	ranked, unmatched, err := web.Rank(p, &r.options)
	if err != nil {
		return "", nil, err
	}
	text, err = object.encode(ranked)
	return text, unmatched, err
}

// rankingJSON is the output of top --json. The help of top describes it.
type rankingJSON struct {
	Input      string    `json:"input"`
	Base       string    `json:"base,omitempty"`
	Kind       string    `json:"kind"`
	Estimate   string    `json:"estimate,omitempty"`
	SampleType string    `json:"sample_type"`
	Unit       string    `json:"unit"`
	Time       string    `json:"time,omitempty"`
	Duration   int64     `json:"duration_ns,omitempty"`
	Total      int64     `json:"total"`
	Functions  int       `json:"functions"`
	Rows       []rowJSON `json:"rows"`
}

type rowJSON struct {
	Function    string  `json:"function"`
	Flat        int64   `json:"flat"`
	FlatPercent float64 `json:"flat_percent"`
	Cum         int64   `json:"cum"`
	CumPercent  float64 `json:"cum_percent"`
}

// percentOf returns the percentage of a total, with four digits after the point.
func percentOf(value, total int64) float64 {
	if total == 0 {
		return 0
	}
	return math.Round(1e6*float64(value)/float64(total)) / 1e4
}

// needsLive rejects flags that only --live has.
func needsLive(cmd *cobra.Command) error {
	for _, name := range []string{flagProcessID, flagName, flagDuration, flagPlain, flagWindow, flagEvery, flagWaiting} {
		if cmd.Flags().Changed(name) {
			return failf(exitUsage, "--%s is about a running process: add --%s", name, flagLive)
		}
	}
	return nil
}

// encode adds the rows of a ranking and returns the object as JSON.
func (o *rankingJSON) encode(ranked *web.Ranking) (string, error) {
	o.SampleType, o.Unit = ranked.SampleType.Type, ranked.SampleType.Unit
	o.Total, o.Functions, o.Rows = ranked.Total, ranked.Functions, []rowJSON{}
	for _, r := range ranked.Rows {
		o.Rows = append(o.Rows, rowJSON{r.Function, r.Flat, percentOf(r.Flat, o.Total), r.Cum, percentOf(r.Cum, o.Total)})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil {
		return "", err
	}
	return string(message.JSON(b.Bytes())), nil
}
