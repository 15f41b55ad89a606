package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/kind"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// filterHelp is the description of filter.
const filterHelp = "Write the selected events of a trace as nettrace 6, as ntconv to nettrace does. OUT, which -o can also name, may be - for\n" +
	"standard output.\n\n" +
	"filter also keeps the method, module and symbol events of the processes with a selected event, so that stacks in the\n" +
	"output can be resolved; --keep-symbols=false drops them. To find these processes it reads the input twice, and copies\n" +
	"standard input to a temporary file.\n\n" +
	"Events are renumbered: filtered events do not count as lost, and events that the recorder lost still do. Types and\n" +
	"threads without an event are dropped. Without a selection filter keeps everything.\n\n"

func (a *app) filterCmd() *cobra.Command {
	f, set := conversion{to: formats.Nettrace()}, new(several)
	cmd := &cobra.Command{
		Use:   "filter IN OUT",
		Short: "Write the selected events of a trace as a trace",
		Long:  filterHelp + severalHelp,
		Example: examples(
			formats.Example{Remark: "one process of a machine-wide trace", Line: "ntconv filter --pid 4711 machine.nettrace one.nettrace"},
			formats.Example{
				Remark: "the last ten seconds, without the runtime's own events",
				Line:   "ntconv filter --from-time -10s --where '!($provider =~ \"^Microsoft-Windows-DotNETRuntime\")' trace.nettrace end.nettrace",
			},
			formats.Example{
				Remark: "large allocations, with symbols for their stacks",
				Line:   "ntconv filter --event GCAllocationTick --where 'AllocationAmount64 >= 1000000' trace.nettrace large.nettrace",
			},
			formats.Example{
				Remark: "only the selected events",
				Line:   "ntconv filter --keep-symbols=false --provider 'System.*' trace.nettrace system.nettrace",
			},
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if err := inAndOut(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && f.out == "" {
				return errors.New("no output given: name a file, or - for standard output")
			}
			return nil
		},
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.take(args)
			if to, flag := f.creator.Destination(); to != formats.ToFile {
				return fmt.Errorf("filter writes one trace; ntconv to nettrace takes %s and the same selection", flag)
			}
			return a.convertSeveral(cmd, &f, set, args[:1])
		},
	}
	if !a.hasFlags(cmd) {
		return cmd
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		f.bindOut(flags, "the same as OUT: output `file`; - is standard output")
		flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		f.bind(flags)
		flags.Lookup("split-by").Hidden = true
		set.bind(flags)
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(f.to.Out.Order))
	return cmd
}

// subset returns the filter for the events to write, nil if only the selected events are written or there is no
// selection.
func (c *conversion) subset(plan *pass.Plan) *split.Filter {
	if !c.to.Out.Subset || plan.Selection.Empty() {
		return nil
	}
	return split.NewFilter(split.FilterOptions{Symbols: c.symbols})
}

// convertSubset writes the selected events of an input, and the events that symbolize their stacks.
func (a *app) convertSubset(c *conversion, plan *pass.Plan, in *input.Input, name string, part *split.Filter) error {
	if part.NeedsLearn() {
		if err := a.learn(in, plan, part); err != nil {
			return err
		}
	}
	c.part, plan.Keep = part, part.Keep
	plan.After = append(
		[]pass.Stage{func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return part.Source(src) }},
		plan.After...)
	return a.follow(plan, in, func(p *pass.Pass) error {
		d := a.delivery(p, c, name)
		empty := d.empty
		d.empty = func() string {
			empty()
			a.sum.Result.Remark(subsetDetail(part))
			if part.Counts().Selected == 0 {
				return "events"
			}
			return ""
		}
		err := a.deliver(p, d)
		a.sum.Selected, a.sum.Symbols = part.Counts().Selected, part.Counts().Symbols
		return err
	})
}

// learn reads an input to find the processes with a selected event. It ignores errors after which an input is partly
// usable, because the second reading reports them.
func (a *app) learn(in *input.Input, plan *pass.Plan, part *split.Filter) error {
	first := *plan
	first.Progress = func(in *input.Input, _ string) func() { return a.progress(in, "looking ahead") }
	return a.follow(&first, in, func(p *pass.Pass) error {
		if err := part.Learn(p.All, p.Selector.Keep); isLimit(err) || err != nil && plan.Read.Strict {
			return &input.Error{Name: in.Name(), Err: err}
		}
		return nil
	})
}

// subsetDetail describes the events that a subset has in addition to the selected events, and those that it omits.
func subsetDetail(part *split.Filter) string {
	var list []string
	c := part.Counts()
	if c.Symbols > 0 {
		list = append(list, message.Count(c.Symbols, "more event")+" kept for symbols")
	}
	if cut := cutIntervals(part.Cut()); cut != "" {
		list = append(list, cut+" begin or end outside the selection")
	}
	if c.Opaque > 0 {
		list = append(list, message.Count(c.Opaque, "block")+" of an unknown kind omitted")
	}
	return strings.Join(list, "; ")
}

// cutIntervals returns the numbers of intervals that a trace lacks because it has only one of their ends, "" if there
// are none.
func cutIntervals(cut [kind.Count]uint64) string {
	var list []string
	for _, k := range kind.Preferred() {
		if cut[k] > 0 {
			list = append(list, message.Group(int64(cut[k]))+" "+k.Noun(int64(cut[k])))
		}
	}
	return message.List(list)
}
