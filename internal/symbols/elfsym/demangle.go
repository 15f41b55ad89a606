package elfsym

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// A Spelling selects how names of functions are returned.
type Spelling uint8

const (
	// SpellFull demangles names of C++ and Rust, with parameters and template arguments.
	SpellFull Spelling = iota
	// SpellShort demangles names without parameters and template arguments.
	SpellShort
	// SpellLinker keeps names as the linker spells them.
	SpellLinker
)

// maxDemangled is the logarithm of the longest demangled name in bytes. Short mangled names can describe names of any
// length.
const maxDemangled = 13

// Demangle returns a name in a spelling. Names that are not mangled are returned unchanged, without the version that
// the linker appends.
func Demangle(name string, s Spelling) string {
	if i := strings.IndexByte(name, '@'); i > 0 { // memcpy@@GLIBC_2.14
		name = name[:i]
	}
	if s == SpellLinker {
		return name
	}
	options := []demangle.Option{demangle.MaxLength(maxDemangled)}
	if s == SpellShort {
		options = append(options, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams)
	}
	return demangle.Filter(name, options...)
}
