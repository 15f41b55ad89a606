package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// Kinds returns the kinds that the flags select by name: none for auto and all.
func (p *Profile) Kinds() []sample.Kind { return p.settings.kinds.chosen() }

// All reports whether the flags select all kinds.
func (p *Profile) All() bool { return p.settings.kinds.isSeveral() && len(p.settings.kinds.each) == 0 }

// KindOptions returns the options of kinds that the flags select.
func (p *Profile) KindOptions() sample.KindOptions { return p.settings.kinds.options }

// Namer returns a namer whose stacks are folded and grouped as the flags select.
func (p *Profile) Namer(namer ntconv.Namer) ntconv.Namer {
	shown, _ := p.settings.grouping.wrap(namer)
	return shown
}
