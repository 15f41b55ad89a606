package command

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
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
	f, set := conversion{Job: job.Job{To: formats.Nettrace()}}, new(inputFlags)
	cmd := &cobra.Command{
		Use:   "filter IN OUT",
		Short: "Write the selected events of a trace as a trace",
		Long:  filterHelp + inputsHelp,
		Example: examples(
			"one process of a machine-wide trace", "ntconv filter --pid 4711 machine.nettrace one.nettrace",
			"the last ten seconds, without the runtime's own events",
			"ntconv filter --from-time -10s --where '!($provider =~ \"^Microsoft-Windows-DotNETRuntime\")' trace.nettrace end.nettrace",
			"large allocations, with symbols for their stacks",
			"ntconv filter --event GCAllocationTick --where 'AllocationAmount64 >= 1000000' trace.nettrace large.nettrace",
			"only the selected events",
			"ntconv filter --keep-symbols=false --provider 'System.*' trace.nettrace system.nettrace",
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
			f.chooseByName()
			if to, flag := f.Output.Destination, f.Output.Flag; to != formats.ToFile {
				return fmt.Errorf("filter writes one trace; ntconv to nettrace takes %s and the same selection", flag)
			}
			return a.convertSeveral(cmd, &f, set, args[:1])
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			f.bindOut(flags, "the same as OUT: output `file`; - is standard output")
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
			f.bind(flags)
			flags.Lookup("split-by").Hidden = true
			set.bind(flags)
		})
		a.addInputFlags(cmd)
		showOrder(cmd, formats.OrderName(f.To.Out.Needs.Order))
	})
}
