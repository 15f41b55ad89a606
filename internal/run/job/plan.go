package job

import (
	"path/filepath"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// NewPlan returns the plan of a pass over the selected events. spans selects the events if the selection has
// conditions on what was open.
func NewPlan(read formats.ReadOptions, sel *selection.Options, spans *Spans) *pass.Plan {
	plan := &pass.Plan{Read: read, Selection: sel}
	if names := pass.SelectNames(sel); names != nil {
		plan.Lookaheads = append(plan.Lookaheads, names)
	}
	spans.selectDuring(plan, sel.Conditions)
	return plan
}

// Name determines what the output is. name is that of the output: "-" is standard output, "" no name; isDir means that
// it is an existing directory.
func (j *Job) Name(name string, isDir bool) {
	if o := j.Output; o == nil || o.Name != name || o.IsDir != isDir {
		j.Output = j.To.Output(j.Settings, name, isDir)
	}
}

// Prepare plans the pass of the job: in the order of the format unless ordered states that the user has chosen that of
// read, and with the stack depth that readers of the format accept. The error is a *formats.FlagError.
func (j *Job) Prepare(read formats.ReadOptions, ordered bool, sel *selection.Options) error {
	needs, plan := &j.Output.Needs, NewPlan(read, sel, &j.Spans)
	j.Plan = plan
	if !ordered {
		plan.Read.Order, plan.AnyOrder, plan.Live = needs.Order, needs.AnyOrder, needs.Live
	}
	plan.Read.OutputDepth, plan.Read.DepthAdvice = needs.StackDepth, needs.DepthAdvice
	plan.Weights = needs.Weights
	if needs.Spans != nil {
		if err := j.Spans.Link(plan, needs.Spans, true); err != nil {
			return err
		}
	}
	for _, ahead := range needs.Lookaheads {
		plan.Lookaheads = append(plan.Lookaheads, &pass.Lookahead{Lookahead: ahead})
		if ahead.Symbols {
			plan.Names, plan.NamesFirst = new(symbol.Options), true
		}
	}
	if j.Symbols != nil {
		plan.Names, plan.NamesFirst = j.Symbols, needs.Names == formats.NamesFirst
	}
	j.part = nil
	if needs.Subset && !sel.Empty() {
		j.part = split.NewFilter(split.FilterOptions{Symbols: j.KeepSymbols})
		plan.Keep = j.part.Keep
		plan.After = append(plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return j.part.Source(src) })
	}
	if needs.Stage != nil {
		plan.After = append(plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return needs.Stage(src) })
	}
	return nil
}

// Target returns the description of a pass for the sink of an output.
func Target(p *pass.Pass, version string) *formats.Target {
	comments := []string{"converted by ntconv"}
	if p.Filtered() {
		comments = append(comments, "selected by "+p.Plan.Selection.String())
	}
	return &formats.Target{
		Namer:    p.Namer,
		Input:    filepath.Base(p.Input.Name()),
		Version:  version,
		Report:   p.Report,
		MaxTemp:  p.Plan.Read.MaxTemp,
		Span:     p.Span,
		Window:   p.Window(),
		Comments: comments,
		Ordered:  p.Order == reader.ByTime || p.Input.Format.In.Ordered,
		Filtered: p.Filtered(),
		Finite:   p.Input.Rereadable(),
	}
}
