package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags of pipelines.
const (
	flagRunner      = "runner"
	flagDeadLetters = "dead-letters"
)

func (a *app) pipelineCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pipeline",
		Short: "Convert many traces on many machines, with Apache Beam",
		Long: "Convert many traces with a pipeline of Apache Beam: in this process (--runner prism, the default), or with the workers of Flink, Spark or\n" +
			"Dataflow. Flags of the runner follow --. A trace that cannot be read is a dead letter and does not stop the others. A pipeline that\n" +
			"was killed is continued by the same command. The runners are part of ntconv-fleet, which make fleet builds.",
		Example: examples(
			"add traces to a dataset", "ntconv-fleet pipeline tables --dataset warehouse 'traces/**/*.nettrace.zst'",
			"with the workers of a Flink cluster",
			"ntconv-fleet pipeline tables --dataset /mnt/warehouse --files-from list.txt --runner flink -- --endpoint=jobserver:8099",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noSubcommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newTablesPipeline().cmd, a.newProfilesPipeline().cmd, a.newRegressionsPipeline().cmd)
	return cmd
}

// pipelineFlags are the flags of all pipelines.
type pipelineFlags struct {
	runner      string
	deadLetters fileName
	force       *bool // replaces an existing output, and an existing file of dead letters
	inputFlags
}

// bind defines the flags. outputs are what -f replaces.
func (p *pipelineFlags) bind(cmd *cobra.Command, force *bool, outputs string) {
	p.force = force
	addGroup(cmd, groupPipeline, func(flags *pflag.FlagSet) {
		flags.BoolVarP(force, "force", "f", false, "replace an existing "+outputs)
		flags.StringVar(&p.runner, flagRunner, pipeline.Prism, "`name` of the runner: "+strings.Join(pipeline.FleetRunners(), ", ")+"; its own flags follow --")
		flags.Var(&p.deadLetters, flagDeadLetters, "write the inputs that cannot be converted to this `file`, with the reasons: a JSON object per line")
		flags.StringVar(&p.filesFrom, flagFilesFrom, "", "read names of further inputs from this `file`, one per line; - is standard input")
		flags.IntVarP(&p.jobs, flagJobs, "j", defaultJobs(), "convert this many inputs at a time in each worker process")
	})
	complete(cmd, flagRunner, pipeline.FleetRunners())
}

// args returns the inputs of a command line, and the flags of the runner, which follow --.
func (p *pipelineFlags) args(cmd *cobra.Command, args []string) (inputs, runner []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// anyInputs is the argument check of a pipeline.
func (p *pipelineFlags) anyInputs(cmd *cobra.Command, args []string) error {
	names, own := p.args(cmd, args)
	for _, arg := range own {
		if !strings.HasPrefix(arg, "--") {
			return fmt.Errorf("%s: arguments after -- must be flags of the runner; inputs precede it", arg)
		}
	}
	if slices.Contains(names, "-") {
		return errors.New("standard input cannot be an input of a pipeline, whose steps may run on other machines")
	}
	return p.inputFlags.anyInputs(cmd, names)
}

// find returns the runner. This program may have none.
func (p *pipelineFlags) findRunner() (pipeline.Runner, error) {
	r, err := pipeline.Find(p.runner)
	if err == nil {
		return r, nil
	}
	if len(pipeline.Runners()) == 0 {
		return nil, failf(exitUsage, "--%s %w in this program; use ntconv-fleet, which make fleet builds", flagRunner, err)
	}
	return nil, failf(exitUsage, "--%s %w; want one of %s", flagRunner, err, strings.Join(pipeline.Runners(), ", "))
}

// A launch is a run of a pipeline.
type launch struct {
	flags  *pipelineFlags
	runner pipeline.Runner
	args   []string // of the runner
	job    *pipeline.Job
	names  []string
	to     string // what is made, for the summary
	lacks  string // what inputs without a result lack
	builds string // how builds are distinguished
}

// start finds the runner and the inputs of a pipeline. The names of inputs are absolute if the steps run elsewhere.
func (p *pipelineFlags) start(cmd *cobra.Command, kind pipeline.Kind, output string, args []string) (*launch, error) {
	if err := p.inputFlags.check(args); err != nil {
		return nil, err
	}
	runner, err := p.findRunner()
	if err != nil {
		return nil, err
	}
	inputs, own := p.args(cmd, args)
	if err := runner.Check(own); err != nil {
		return nil, failf(exitUsage, "--%s %s: %w", flagRunner, p.runner, err)
	}
	if err := refuseExisting(string(p.deadLetters), *p.force); err != nil {
		return nil, err
	}
	found, err := p.find(inputs)
	if err != nil {
		return nil, err
	}
	l := &launch{flags: p, runner: runner, args: own, names: found.Names}
	l.job = &pipeline.Job{Kind: kind, Output: output, Flags: jobFlags(cmd)}
	if err := checkPlace(kind, output, runner); err != nil || !runner.Remote() {
		return l, err
	}
	if l.job.Output, err = filepath.Abs(output); err != nil {
		return nil, fail(exitOutput, err)
	}
	for i, name := range l.names {
		if !fileio.IsRemote(name) && !store.Is(name) {
			if l.names[i], err = filepath.Abs(name); err != nil {
				return nil, fail(exitInput, err)
			}
		}
	}
	return l, nil
}

// checkPlace rejects an output in an object store of which the steps need a file system.
func checkPlace(kind pipeline.Kind, output string, runner pipeline.Runner) error {
	switch {
	case kind != pipeline.Tables && (store.Is(output) || fileio.CheckAddress(output) != nil):
		return failf(exitUsage, "%s: a pipeline reveals its output by a rename, which object stores do not have; name a directory of the file system, and copy it", output)
	case runner.Remote() && store.Is(output):
		return failf(exitUsage, "%s: workers share the traces that they have converted in the directory of the dataset; name a directory that all of them see, or omit --%s",
			output, flagRunner)
	}
	return nil
}

// jobFlags returns the flags of the command line that determine what the steps do.
func jobFlags(cmd *cobra.Command) (list []pipeline.Flag) {
	other := []string{flagDataset, flagRunner, flagDeadLetters, flagFilesFrom, "output", "force"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(other, f.Name) || groupOf(f) == groupReport {
			return
		}
		flag := pipeline.Flag{Name: f.Name, Values: []string{f.Value.String()}}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			flag.Values = many.GetSlice()
		} else if f.Value.Type() == "stringToString" {
			flag.Values = []string{strings.Trim(f.Value.String(), "[]")}
		}
		list = append(list, flag)
	})
	return list
}

// setFlags sets flags that jobFlags has returned, in the process of a step.
func setFlags(cmd *cobra.Command, list []pipeline.Flag) error {
	for _, f := range list {
		flag := cmd.Flags().Lookup(f.Name)
		if flag == nil {
			return fmt.Errorf("--%s: the worker does not have this flag; it must be the same release of ntconv-fleet", f.Name)
		}
		for _, value := range f.Values {
			if flag.Value.Type() == "stringSlice" {
				value = csvField(value)
			}
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				return fmt.Errorf("--%s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// run runs the pipeline, and writes the dead letters.
func (a *app) launch(l *launch) (*pipeline.Result, error) {
	a.begin(&pass.Summary{Input: l.names[0], To: l.to, Output: l.job.Output})
	a.severalOutputs = true
	a.keepsOnInterrupt(func() string { return "the same command continues the pipeline" })
	if err := errors.Join(l.job.Clear(), l.job.WriteNames(l.names)); err != nil {
		return nil, fail(exitOutput, err)
	}
	stop := a.showPhase(&progressPhase{name: "running the pipeline", read: func() int64 { return 0 }})
	err := l.runner.Run(context.Background(), l.job, &pipeline.RunOptions{Args: l.args, Log: a.runnerLog()})
	stop()
	if a.ended.Load() {
		select {} // the handler of the signal prints the message and exits
	}
	if err != nil {
		return nil, failf(exitOutput, "%s: the pipeline failed: %w; the same command continues it", l.job.Output, err)
	}
	result, err := l.job.Result()
	if err != nil {
		return nil, fail(exitOutput, err)
	}
	if err := l.writeDeadLetters(); err != nil {
		return nil, fail(exitOutput, err)
	}
	a.sum.Result, a.sum.Done, a.sum.Report = &pipelineResult{result}, true, []pass.Entry{}
	a.sum.Events, a.sum.Selected, a.sum.Bytes = result.Events, result.Events, result.BytesOut
	if reasons, err := l.firstReasons(); err == nil {
		for _, text := range reasons {
			if a.report != reportJSON {
				a.printError(text)
			}
		}
	}
	return result, nil
}

// runnerLog returns where messages of the runner are written.
func (a *app) runnerLog() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.stderr
}

// maxShownLetters is the number of dead letters that are printed. The file has all.
const maxShownLetters = 10

// firstReasons returns messages for the first dead letters.
func (l *launch) firstReasons() (list []string, err error) {
	f, err := os.Open(filepath.Join(l.job.Work, pipeline.LettersName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var o pipeline.Outcome
		if err := d.Decode(&o); err != nil {
			return list, nil
		}
		if len(list) == maxShownLetters {
			return append(list, fmt.Sprintf("and others; --%s FILE has all", flagDeadLetters)), nil
		}
		list = append(list, o.Reason)
	}
}

// writeDeadLetters copies the dead letters to the file that the user has named.
func (l *launch) writeDeadLetters() error {
	name := string(l.flags.deadLetters)
	if name == "" {
		return nil
	}
	in, err := os.Open(filepath.Join(l.job.Work, pipeline.LettersName))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := fileio.Create(name, fileio.OutputOptions{Force: *l.flags.force})
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// work creates and locks the directory in which the steps of a pipeline with an output of its own leave files: next to the output, so that
// a rename reveals that. release removes the directory if the run has succeeded.
func (l *launch) work(force bool) (release func(success bool) error, err error) {
	out := filepath.Clean(l.job.Output)
	if err := refuseExisting(out, force); err != nil {
		return nil, err
	}
	l.job.Output, l.job.Force = out, force
	l.job.Work = filepath.Join(filepath.Dir(out), ".ntconv-pipeline-"+l.job.ID(l.names))
	if err := os.MkdirAll(l.job.Work, 0o777); err != nil {
		return nil, fail(exitOutput, err)
	}
	lock, err := os.OpenFile(filepath.Join(l.job.Work, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fail(exitOutput, err)
	}
	if err := fileio.Lock(lock); errors.Is(err, fileio.ErrLocked) {
		lock.Close()
		return nil, failf(exitIncomplete, "%s: the same pipeline is running; wait until it has ended", out)
	}
	return func(success bool) error {
		defer lock.Close()
		if !success {
			return nil
		}
		return os.RemoveAll(l.job.Work)
	}, nil
}

// refuseExisting returns an error if a file or directory exists that would be replaced without -f. A device is not replaced.
func refuseExisting(name string, force bool) error {
	info, err := store.Stat(name)
	if force || err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	return failf(exitOutput, "%s: %w; -f overwrites it", name, fs.ErrExist)
}

// runAlone runs a pipeline with an output of its own.
func (a *app) runAlone(l *launch) error {
	release, err := l.work(a.force)
	if err != nil {
		return err
	}
	result, err := a.launch(l)
	if err = errors.Join(err, release(err == nil)); err != nil {
		return err
	}
	if l.job.Kind == pipeline.Regressions && len(result.Made) > 0 && result.Rows == 0 {
		a.sum.Done = false
		code := exitEmpty
		if err := l.verdict(result); err != nil {
			code = codeOf(err)
		}
		return failf(code, "%s: the inputs have one build of each service (%s), and two are compared; %s",
			l.job.Output, firstNames(madeNames(result.Made)), l.builds)
	}
	if len(result.Made) == 0 {
		a.sum.Done = false
		if err := l.verdict(result); err != nil {
			return err
		}
		return failf(exitEmpty, "%s: no input has %s", l.job.Output, l.lacks)
	}
	return l.verdict(result)
}

// madeNames returns the names of outputs.
func madeNames(list []pipeline.Made) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// verdict returns the error of a run whose result is complete: 3 if an input is missing or incomplete, and the most severe code of
// all inputs if none was converted.
func (l *launch) verdict(r *pipeline.Result) error {
	done := r.Counts[pipeline.Converted] + r.Counts[pipeline.Incomplete] + r.Counts[pipeline.There] + r.Counts[pipeline.Empty]
	switch {
	case r.Counts[pipeline.Failed]+r.Counts[pipeline.Incomplete] == 0:
		return nil
	case done > 0:
		return fail(exitIncomplete, errQuiet)
	}
	if code := worst(func(code int) bool { return r.Exits[code] > 0 }); code != exitOK {
		return fail(code, errQuiet)
	}
	return fail(exitInput, errQuiet)
}

// A pipelineResult is the result of a pipeline. It implements formats.Result.
type pipelineResult struct{ *pipeline.Result }

// MarshalJSON implements json.Marshaler.
func (r *pipelineResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Converted   int             `json:"converted"`
		Incomplete  int             `json:"incomplete"`
		There       int             `json:"already_there"`
		Empty       int             `json:"empty"`
		DeadLetters int             `json:"dead_letters"`
		BytesIn     int64           `json:"bytes_in"`
		BytesOut    int64           `json:"bytes_out"`
		Files       int             `json:"files"`
		Rows        int64           `json:"rows,omitempty"`
		Made        []pipeline.Made `json:"made"`
	}{
		r.Counts[pipeline.Converted] + r.Counts[pipeline.Incomplete], r.Counts[pipeline.Incomplete], r.Counts[pipeline.There],
		r.Counts[pipeline.Empty], r.Counts[pipeline.Failed], r.BytesIn, r.BytesOut, r.Files, r.Rows, r.Made,
	})
}

// Line implements formats.Result.
func (r *pipelineResult) Line(formats.Read) string {
	done := r.Counts[pipeline.Converted] + r.Counts[pipeline.Incomplete]
	line := message.Count(int64(done), "trace") + " converted"
	for _, c := range []struct{ status, text string }{
		{pipeline.Incomplete, "incomplete"}, {pipeline.Empty, "without such data"}, {pipeline.There, "already there"},
	} {
		if n := r.Counts[c.status]; n > 0 {
			line += ", " + message.Group(int64(n)) + " " + c.text
		}
	}
	if n := r.Counts[pipeline.Failed]; n > 0 {
		line += ", " + message.Count(int64(n), "dead letter")
	}
	line += "; " + message.Count(r.Events, "event") + " of " + message.Bytes(r.BytesIn) + ", "
	if r.Files == 0 && r.Rows > 0 {
		return line + message.Count(r.Rows, "row")
	}
	return line + message.Count(int64(r.Files), "file") + " of " + message.Bytes(r.BytesOut)
}

// Empty implements formats.Result.
func (r *pipelineResult) Empty() string { return "" }

// Detail implements formats.Result.
func (r *pipelineResult) Detail() (string, []ntconv.Code) { return "", nil }

// Remark implements formats.Result.
func (r *pipelineResult) Remark(string) {}

// Notes implements formats.Result.
func (r *pipelineResult) Notes() []string { return nil }
