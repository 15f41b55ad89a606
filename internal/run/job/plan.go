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
		plan.Ahead = append(plan.Ahead, names)
	}
	spans.selectDuring(plan, sel.Conditions)
	return plan
}

// Prepare plans the pass of the job: in the order of the format unless ordered states that the user has chosen that of
// read, and with the stack depth that readers of the format accept. The error is a *formats.FlagError.
func (j *Job) Prepare(read formats.ReadOptions, ordered bool, sel *selection.Options) error {
	out, plan := j.To.Out, NewPlan(read, sel, &j.Spans)
	j.Plan = plan
	if !j.named {
		j.namesFirst = out.Names == formats.NamesFirst
	}
	if !ordered {
		plan.Read.Order, plan.AnyOrder, plan.Live = out.Order, out.AnyOrder, out.Live
	}
	plan.Read.OutputDepth, plan.Read.DepthAdvice = j.Creator.StackDepth()
	plan.Weights = out.Weights
	if labeler, ok := j.Creator.(formats.SpanLabeler); ok {
		if err := j.Spans.Link(plan, labeler.SpanLabels(), true); err != nil {
			return err
		}
	}
	for _, ahead := range j.Creator.Ahead() {
		plan.Ahead = append(plan.Ahead, &pass.Ahead{Ahead: ahead})
		if ahead.Symbols {
			plan.Names, plan.NamesFirst = new(symbol.Options), true
		}
	}
	j.part = nil
	if out.Subset && !sel.Empty() {
		j.part = split.NewFilter(split.FilterOptions{Symbols: !j.SelectedOnly})
		plan.Keep = j.part.Keep
		plan.After = append(plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return j.part.Source(src) })
	}
	if stage := j.Creator.Stage(); stage != nil {
		plan.After = append(plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return stage(src) })
	}
	return nil
}

// Name tells the job the name of its output, which may determine what the output is: "-" is standard output, "" no name.
// Call it before Plan is used.
func (j *Job) Name(out string, isDir bool) {
	when := j.To.Out.Names
	chooser, ok := j.Creator.(formats.NameChooser)
	if ok {
		when = chooser.ChooseByName(out, isDir)
	}
	j.named, j.byName, j.namesFirst = true, ok, when == formats.NamesFirst
}

// ByName reports whether the name of the output determines whether it is a directory.
func (j *Job) ByName() bool { return j.byName }

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
	}
}
