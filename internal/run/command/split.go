package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A splitting is a request to split a trace.
type splitting struct {
	in, out    string
	text       string // --every
	every      *split.Every
	allowLarge bool
	scan       *split.Scan
	content    string // hash of the input
	counts     split.Counts
	files      int64
}

func (a *app) splitCmd() *cobra.Command {
	s := new(splitting)
	cmd := &cobra.Command{
		Use:   "split --every EVERY IN DIR",
		Short: "Divide a trace into parts that each stand alone",
		Long: "Divide a trace into parts that each stand alone: nettrace 6 files in the new directory DIR. EVERY is one of\n\n" +
			"  10s             time: each part has the events of 10 seconds; there is no part for a time without events\n" +
			"  100MB           size of a part (B, KB, MB, GB; KiB, MiB, GiB), at least 4,096 bytes\n" +
			"  process         one part per process\n" +
			"  FIELD,...       one part per value of fields of the payload or properties such as $tid; ntconv help where lists them\n" +
			"  EXPRESSION      a part begins with each event for which the expression is true, such as '$event == \"GCStart\"'\n\n" +
			"Each part also has copies of the events that describe its methods, modules and processes elsewhere in the trace. The copies\n" +
			"have the label " + recording.LabelReplica + ". Events that state weights of samples make the profiles of all parts add up to that of the\n" +
			"trace. ntconv merge DIR/* OUT drops what was added and restores the trace.\n\n" +
			"split reads the input three times: it finds the parts, computes a hash of the content, and writes the parts. Standard input is\n" +
			"copied to a temporary file.",
		Example: examples(
			"parts of ten seconds", "ntconv split --every 10s trace.nettrace parts/",
			"one part per process of a machine-wide trace", "ntconv split --every process machine.nettrace processes/",
			"a part from each garbage collection to the next",
			"ntconv split --every '$event == \"GCStart\"' trace.nettrace gcs/",
			"restore the trace and compare",
			"ntconv merge parts/* again.nettrace && ntconv verify trace.nettrace again.nettrace",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("split reads one input and writes one directory (IN DIR), got %s",
					message.Count(int64(len(args)), "argument"))
			}
			return nil
		},
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.in, s.out = args[0], args[1]
			return a.split(cmd, s)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.StringVar(&s.text, "every", "", "what divides the trace: `EVERY` is a time, a size, process, fields, or an expression")
			flags.BoolVarP(&a.force, "force", "f", false, "replace an existing directory of traces")
			flags.BoolVar(&s.allowLarge, "allow-large", false,
				"write payloads above 65,535 bytes and stacks above 8,190 frames, which TraceEvent cannot read")
		})
		a.addInputFlags(cmd)
		hideSelection(cmd)
		complete(cmd, "every", []string{"10s", "1m", "100MB", "process", "$tid", "$provider"})
	})
}

// hideSelection hides the flags of a selection from the help of a command that writes whole traces.
func hideSelection(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if groupOf(f) == groupSelection {
			f.Hidden = true
		}
	})
}

// wholeTrace returns the plan of a command that takes no selection.
func (a *app) wholeTrace(command string) (*pass.Plan, error) {
	plan, err := a.plan()
	if err != nil {
		return nil, err
	}
	if !plan.Selection.Empty() {
		return nil, failf(exitUsage, "%s writes whole traces, without %s; select events with ntconv filter first",
			command, plan.Selection)
	}
	return plan, nil
}

// split divides a trace.
func (a *app) split(cmd *cobra.Command, s *splitting) error {
	a.begin(&pass.Summary{Input: s.in, To: "nettrace", Flags: a.openers.Notes})
	plan, err := a.splitPlan(cmd, s)
	if err != nil {
		return err
	}
	in, err := a.open([]string{s.in}, true)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := a.scanParts(plan, in, s); err != nil {
		return err
	}
	sum, err := in.Sum(nil)
	if err != nil {
		return inputFailure(err, false)
	}
	s.content = hex.EncodeToString(sum.SHA256)
	return a.follow(plan, in, func(p *pass.Pass) error {
		return a.deliver(p, &delivery{
			name: s.out, to: formats.ToDir,
			create: func(out *fileio.Outputs) (ntconv.Sink, error) { return s.create(p, out) },
			done: func() error {
				a.sum.Result = &splitResult{Parts: s.files, Counts: s.counts, cut: job.CutIntervals(s.scan.Cut()), notes: s.scan.Notes()}
				return nil
			},
		})
	})
}

// splitPlan checks the request.
func (a *app) splitPlan(cmd *cobra.Command, s *splitting) (*pass.Plan, error) {
	if s.text == "" {
		return nil, failf(exitUsage, "--every is missing; ntconv split --help lists what it takes, such as --every 10s")
	}
	var err error
	if s.every, err = split.ParseEvery(s.text); err != nil {
		return nil, failf(exitUsage, "--every %s: %w", s.text, err)
	}
	plan, err := a.wholeTrace("split")
	if err != nil {
		return nil, err
	}
	if plan.Read.Order == reader.FileOrder && s.every.Time > 0 {
		return nil, failf(exitUsage, "--every %s --order file: parts of a time need events in time order; omit --order", s.text)
	}
	if !s.allowLarge {
		plan.Read.OutputDepth = maxTraceEventDepth
		plan.Read.DepthAdvice = "--allow-large keeps more frames, for readers other than TraceEvent"
	}
	plan.Check = true
	if isStdout(s.out) {
		return nil, failf(exitUsage, "split writes a directory; name it instead of -")
	}
	if err := checkOutput(s.out, s.in); err != nil {
		return nil, err
	}
	if a.force {
		return plan, checkReplaced(formats.Nettrace(), s.out, s.in)
	}
	if entries, err := store.ReadDir(s.out); err == nil && len(entries) > 0 { // before the input is read twice
		return nil, failf(exitOutput, "%s: create: the directory is not empty; -f replaces it, or choose another output", s.out)
	}
	return plan, nil
}

// maxTraceEventDepth is the maximum number of frames per stack that TraceEvent reads.
const maxTraceEventDepth = 8190

// byTime reports whether a pass delivers events in time order.
func byTime(p *pass.Pass) bool { return p.Order == reader.ByTime || p.Input.Format.In.Ordered }

// scanParts reads an input to find its parts. It ignores errors after which the input is partly usable, because the
// second reading reports them.
func (a *app) scanParts(plan *pass.Plan, in *input.Input, s *splitting) error {
	first := *plan
	first.Progress = func(in *input.Input, _ string) func() { return a.progress(in, "looking for parts") }
	return a.follow(&first, in, func(p *pass.Pass) (err error) {
		if d, err := split.PartOf(p.Info); d != nil || err != nil {
			return failf(exitUsage, "%s: the trace is already a part of a split; join all parts with ntconv merge and split the result",
				in.Name())
		}
		s.scan, err = split.NewScan(p.Info, s.every, byTime(p), func() (ntconv.Sink, func() int64, error) {
			c := new(byteCounter)
			w, err := writer.New(c, p.Info, s.writerOptions(byTime(p), nil))
			return w, func() int64 { return c.n }, err
		})
		if err != nil {
			return failf(exitUsage, "--every %s: %w", s.text, err)
		}
		names := symbol.SynthesizeTo(s.scan, new(symbol.SynthesizeOptions))
		_, err = ntconv.Copy(names, p.All)
		var of *ntconv.SourceError
		if errors.As(err, &of) && !isLimit(err) && !plan.Read.Strict && p.Total > 0 {
			err = nil
		}
		if err == nil {
			err = names.Close()
		}
		switch {
		case errors.As(err, &of):
			return inputFailure(&input.Error{Name: in.Name(), Err: of.Err}, plan.Read.Strict)
		case isLimit(err):
			return limitFailure(formats.AllowLarge(err))
		}
		return err
	})
}

// A byteCounter counts the bytes that are written to it.
type byteCounter struct{ n int64 }

func (c *byteCounter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// writerOptions returns the options for the files of parts. Many parts that are open at a time have small buffers.
func (s *splitting) writerOptions(ordered bool, report *ntconv.Report) *writer.Options {
	o := &writer.Options{Ordered: ordered, Renumber: true, AllowLarge: s.allowLarge, Report: report}
	switch {
	case s.every.Size > 0:
		o.BlockBytes = int(max(4096, min(1<<20, s.every.Size/8)))
	case s.every.Ranked() && s.scan != nil && s.scan.Parts() > 16:
		o.BlockBytes = max(16<<10, 16<<20/s.scan.Parts())
	}
	return o
}

// create returns the sink that writes the parts.
func (s *splitting) create(p *pass.Pass, out *fileio.Outputs) (ntconv.Sink, error) {
	id := sha256.Sum256([]byte(s.content + " " + s.text + " " + formats.OrderName(p.Order)))
	parts, err := split.New(p.Info, s.scan, &split.Options{
		Create: func(d split.Part) (ntconv.Sink, error) { return s.part(p, out, d) },
		Part: split.Part{
			ID: hex.EncodeToString(id[:8]), Every: s.text, Input: "sha256:" + s.content, ByTime: byTime(p),
		},
	})
	if err != nil {
		return nil, err
	}
	return &splitSink{
		Sink: symbol.SynthesizeTo(parts, &symbol.SynthesizeOptions{Report: p.Report}), parts: parts, request: s,
	}, nil
}

// A splitSink writes all parts and notes the counts.
type splitSink struct {
	ntconv.Sink
	parts   *split.Splitter
	request *splitting
}

func (s *splitSink) Write(e *ntconv.Event) error { return formats.AllowLarge(s.Sink.Write(e)) }

func (s *splitSink) Close() error {
	err := formats.AllowLarge(s.Sink.Close())
	s.request.counts = s.parts.Counts()
	return err
}

// part creates the file of a part.
func (s *splitting) part(p *pass.Pass, out *fileio.Outputs, d split.Part) (ntconv.Sink, error) {
	file, err := out.Create(s.member(d))
	if err != nil {
		return nil, err
	}
	info := *p.Info
	if d.Number > 1 && !d.Ranked {
		info = *recording.Since(p.Info, d.Begin)
	}
	info.Attrs = append(info.Attrs[:len(info.Attrs):len(info.Attrs)], d.Attrs()...)
	w, err := writer.New(file, &info, s.writerOptions(d.ByTime, p.Report))
	if err != nil {
		return nil, err
	}
	s.files++
	return &partSink{w, file}, nil
}

// member returns the name of the file of a part: the name of the input, the number of the part, and its value.
func (s *splitting) member(d split.Part) string {
	base := filepath.Base(s.in)
	if s.in == "-" {
		base = "trace"
	}
	base, _ = formats.CutCompression(base)
	for _, f := range formats.All() {
		for _, ext := range f.Exts {
			base = strings.TrimSuffix(base, strings.TrimSuffix(ext, ".gz"))
		}
	}
	name := fmt.Sprintf("%s-%0*d", base, max(3, len(fmt.Sprint(d.Count))), d.Number)
	if value := plainName(d.Value); value != "" {
		name += "-" + value
	}
	return name + ".nettrace"
}

// plainName replaces characters that a file system may reject, because values in traces are untrusted.
func plainName(value string) string {
	const maxBytes = 60
	value = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-', r == '+':
			return r
		}
		return '_'
	}, strings.ToValidUTF8(value, "_"))
	return strings.Trim(value[:min(len(value), maxBytes)], "._-")
}

// A partSink is the file of a part.
type partSink struct {
	*writer.Writer
	file *fileio.Member
}

func (p *partSink) Close() error {
	if err := p.Writer.Close(); err != nil {
		return err
	}
	return p.file.Close()
}

// A splitResult is the result of a split.
type splitResult struct {
	Parts int64 `json:"files"`
	split.Counts
	Text  string `json:"detail,omitempty"`
	cut   string // intervals that no part has
	notes []string
}

// Empty implements formats.Result. Even a trace without events has a part.
func (r *splitResult) Empty() string { return "" }

// Line implements formats.Result.
func (r *splitResult) Line(read formats.Read) string {
	return message.Count(r.Parts, "part") + ", " + read.Line()
}

// Detail implements formats.Result.
func (r *splitResult) Detail() (string, []ntconv.Code) {
	var list []string
	if r.Replicas > 0 {
		list = append(list, message.Count(r.Replicas, "event")+" copied to other parts")
	}
	if r.cut != "" {
		list = append(list, r.cut+" in no part, because they begin and end in different ones")
	}
	if r.Text != "" {
		list = append(list, r.Text)
	}
	return strings.Join(list, "; "), nil
}

// Remark implements formats.Result.
func (r *splitResult) Remark(text string) { r.Text = text }

// Notes implements formats.Result.
func (r *splitResult) Notes() []string {
	if r.Replicas <= maxCopies*r.Events {
		return r.notes
	}
	return append(slices.Clip(r.notes), fmt.Sprintf("the parts have %.1f times as many copies as events, because they are small; "+
		"choose a larger --every to save space", float64(r.Replicas)/float64(max(1, r.Events))))
}

// maxCopies is the number of copies per event above which the summary advises larger parts.
const maxCopies = 2
