package formats

import (
	"os"
	"strconv"
	"sync"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
	"github.com/ntconv/ntconv/internal/symbols/managedcode"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
)

// Names of the flags for symbols in files.
const (
	FlagSymbols      = "symbols"
	FlagDebugDir     = "debug-dir"
	FlagLocalSymbols = "local-symbols"
	FlagLines        = "lines"
	FlagDebuginfod   = "debuginfod"
)

// EnvLocalSymbols is the environment variable with the default of --local-symbols, for outputs that must not depend on
// the libraries of a machine.
const EnvLocalSymbols = "NTCONV_LOCAL_SYMBOLS"

// debugDir is the directory in which Linux distributions install separate debug files.
const debugDir = "/usr/lib/debug"

// A serverList is a flag with URLs.
type serverList []string

func (s *serverList) Set(text string) error {
	if err := symbolfiles.CheckServer(text); err != nil {
		return err
	}
	*s = append(*s, text)
	return nil
}

func (s *serverList) String() string { return "" }
func (s *serverList) Type() string   { return "URL" }

// An existing is a flag with existing files or directories. Its default need not exist.
type existing struct {
	pflag.Value
	pflag.SliceValue
}

// Set implements pflag.Value.
func (e existing) Set(name string) error {
	if _, err := os.Stat(name); err != nil {
		return err
	}
	return e.Value.Set(name)
}

// A pathList is a flag with existing files or directories. It is a pflag.SliceValue.
type pathList []string

func (p *pathList) Set(name string) error {
	if _, err := os.Stat(name); err != nil {
		return err
	}
	*p = append(*p, name)
	return nil
}

func (p *pathList) String() string              { return "" }
func (p *pathList) Type() string                { return "directory" }
func (p *pathList) Append(name string) error    { return p.Set(name) }
func (p *pathList) Replace(list []string) error { *p = list; return nil }
func (p *pathList) GetSlice() []string          { return *p }

// SymbolFlags defines the flags for symbols in files, and sets o.Native, which evaluates them when it is first asked.
// The result is what o.Native is.
func SymbolFlags(flags *pflag.FlagSet, o *symbol.Options) *symbolfiles.Finder {
	set := new(symbolfiles.Options)
	flags.Var((*pathList)(&set.Paths), FlagSymbols, "find symbols in this `directory` or file: programs, libraries and "+
		"debug files by build ID, or by path; perf maps, kallsyms; assemblies and portable PDBs of .NET; repeatable; "+
		"see docs/symbols.md")
	flags.StringArrayVar(&set.DebugDirs, FlagDebugDir, []string{debugDir}, "`directory` of separate debug files; repeatable")
	debug := flags.Lookup(FlagDebugDir)
	debug.Value = existing{debug.Value, debug.Value.(pflag.SliceValue)}
	local := true
	if v, err := strconv.ParseBool(os.Getenv(EnvLocalSymbols)); err == nil {
		local = v
	}
	flags.BoolVar(&set.Local, FlagLocalSymbols, true, "find symbols in the files of this machine that the trace names, "+
		"if they have the build ID that the trace states")
	flags.BoolVar(&set.Lines, FlagLines, false, "find source lines, and functions inlined into native code; "+
		"ntconv view and go tool pprof -list show the lines, lists of functions do not")
	flags.Var((*serverList)(&set.Servers), FlagDebuginfod, "ask the debuginfod server at this `URL` for missing files; "+
		"without it, no request is sent; repeatable")
	machine := sync.OnceFunc(func() { // applies the default of the environment; several jobs may be the first to ask
		if !flags.Changed(FlagLocalSymbols) {
			set.Local = local
		}
		if !set.Local && !flags.Changed(FlagDebugDir) {
			set.DebugDirs = nil // the default belongs to this machine, too
		}
	})
	finder := symbolfiles.New(func() symbolfiles.Options {
		machine()
		switch o.Names {
		case symbol.NamesShort:
			set.Spelling = elfsym.SpellShort
		case symbol.NamesRaw:
			set.Spelling = elfsym.SpellLinker
		}
		return *set
	})
	assemblies := managedcode.New(func() managedcode.Options {
		machine()
		return managedcode.Options{Paths: set.Paths, Local: set.Local, Lines: set.Lines}
	})
	finder.UseAssemblies(assemblies)
	o.Native, o.Lines = finder, assemblies
	return finder
}

// Serve sets the program for which files with symbols are downloaded, if o has the flags of SymbolFlags. o may be nil.
func Serve(o *symbol.Options, host symbolfiles.Host) {
	if o == nil {
		return
	}
	if f, ok := o.Native.(interface{ Serve(symbolfiles.Host) }); ok {
		f.Serve(host)
	}
}
