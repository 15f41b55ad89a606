package command

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags of print that select statistics.
const (
	flagStats = "stats"
	flagBy    = "by"
	flagOf    = "of"
	flagCount = "count"
)

// statistics are the flags of print --stats.
type statistics struct {
	wanted bool
	by     []string
	of     string
	count  int
	opts   eventtext.StatsOptions
}

func (s *statistics) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&s.wanted, flagStats, false, "print a table of the events instead: one row per group")
	flags.StringArrayVar(&s.by, flagBy, nil, "group the events of --stats by the values of these `fields` or properties, "+
		"such as 'TypeName,$pid' (default $provider,$event); repeatable")
	flags.StringVar(&s.of, flagOf, "", "numeric `field` or property whose sum and quantiles --stats prints")
	flags.IntVarP(&s.count, flagCount, "n", 20, "maximum number of `groups` of --stats; 0 means all")
}

// statsDetails is the part of the help about statistics.
const statsDetails = `--stats prints a table instead of events. The events are grouped by the fields or properties of --by, which are named
as in --where (ntconv help where); a number that has a name in the runtime's manifest is shown by its name. For each
group the table has the number of events and the bytes of their payloads. With --of FIELD it also has the sum, minimum,
mean, quantiles and maximum of a numeric field, where true is 1 and false is 0. All elements of a list count. --by also
takes $process and $thread, the names of the process and the thread. --of '$time' shows when the events of a group
occurred. Rows are sorted by the sum of --of, or else by the number of events.
Sums and counts are exact. Quantiles are exact in groups of at most 4,096 values; others are marked with ~ and deviate
by at most 1.6%.

With --stats, --json prints one object:

  input, by, of      names of the input and of the fields; of only with --of
  unit               ns if --of is $time; traces do not state the units of other numbers
  groups             number of groups
  rows               at most --count objects, sorted: by (an object with the value of each field, null if there is
                     none), events, bytes, and with --of values, sum, min, mean, p50, p90, p99, max (absent if values
                     is 0), quantile_error (relative; absent if the quantiles are exact)
  more, total        the same for the remaining groups and for all events
  notes              events without a value, and values that are not numbers`

// check parses the fields, and rejects flags that do not fit each other.
func (s *statistics) check(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if !s.wanted {
		for _, name := range []string{flagBy, flagOf, flagCount} {
			if given(name) {
				return failf(exitUsage, "--%s needs --%s", name, flagStats)
			}
		}
		return nil
	}
	for _, name := range []string{"hex", "crc", "stacks", flagFrames} {
		if given(name) {
			return failf(exitUsage, "--%s prints a table, which has no place for --%s", flagStats, name)
		}
	}
	if s.count < 0 {
		return failf(exitUsage, "-n %d: want a number of groups", s.count)
	}
	return s.parse()
}

// parse sets the options.
func (s *statistics) parse() error {
	by := s.by
	if len(by) == 0 {
		by = []string{"$provider,$event"}
	}
	s.opts = eventtext.StatsOptions{}
	for _, text := range by {
		list, err := where.ParseOperands(text)
		if err != nil {
			return failf(exitUsage, "--%s: %w", flagBy, err)
		}
		for _, o := range list {
			same := func(other *where.Operand) bool { return other.String() == o.String() }
			if slices.ContainsFunc(s.opts.By, same) {
				return failf(exitUsage, "--%s has %s twice", flagBy, o)
			}
			s.opts.By = append(s.opts.By, o)
		}
	}
	if s.of == "" {
		return nil
	}
	list, err := where.ParseOperands(s.of)
	switch {
	case err != nil:
		return failf(exitUsage, "--%s: %w", flagOf, err)
	case len(list) > 1:
		return failf(exitUsage, "--%s: want one field, got %d", flagOf, len(list))
	case list[0].Never() != "":
		return failf(exitUsage, "--%s: %s; want a number", flagOf, list[0].Never())
	}
	s.opts.Of = list[0]
	return nil
}

func (a *app) printStats(cmd *cobra.Command, r *printing) error {
	if !cmd.Flags().Changed("order") {
		a.read.Order = reader.FileOrder // statistics do not depend on the order, and file order needs no window
	}
	a.begin(&pass.Summary{Input: r.in, Flags: a.openers.Notes})
	a.lines = isStdout(r.out)
	if err := checkOutput(r.out, r.in); err != nil {
		return err
	}
	plan, err := a.plan()
	if err != nil {
		return err
	}
	plan.Check = isStdout(r.out)
	if r.stats.opts.HasOwners() {
		plan.Names = &symbol.Options{}
	}
	return a.over([]string{r.in}, plan, func(p *pass.Pass) error {
		sink := newStatsSink(p, r)
		err := a.deliver(p, sink.delivery(a, p))
		if isStdout(r.out) {
			a.sum.Output = ""
		}
		a.sum.Notes = append(a.sum.Notes, sink.Notes()...)
		return err
	})
}

// A statsSink writes the statistics of a pass to an output.
type statsSink struct {
	*eventtext.StatsSink
	*printing
	output *fileio.Member
}

func newStatsSink(p *pass.Pass, r *printing) *statsSink {
	opts := r.stats.opts
	opts.Namer = p.Namer
	return &statsSink{StatsSink: eventtext.NewStats(p.Info.Clock, opts), printing: r}
}

func (s *statsSink) delivery(a *app, p *pass.Pass) *delivery {
	return &delivery{
		name: s.out,
		create: func(out *fileio.Outputs) (_ ntconv.Sink, err error) {
			s.output, err = out.Create("")
			return s, err
		},
		done: func() error {
			if s.Empty() {
				return a.nothing(p, "events", "")
			}
			if problem := s.Problem(); problem != "" {
				return failf(exitEmpty, "%s: %s", s.in, problem)
			}
			return nil
		},
	}
}

// Close implements ntconv.Sink. It writes nothing if there is nothing to show.
func (s *statsSink) Close() error {
	if s.Empty() || s.Problem() != "" {
		return nil
	}
	table := s.Table(s.stats.count)
	text := table.Text()
	if s.json {
		var err error
		if text, err = table.JSON(s.in); err != nil {
			return err
		}
	}
	_, err := s.output.Write(text)
	return err
}
