// Package pass reads an input from beginning to end. It learns symbols from every event, applies the selection, and
// counts events before and after it. It decides how often an input is read, in which order, and with which report.
//
//	input → stages before the selection → selection → stages after it → sink
//
// A stage before the selection sees every event. So does a sink that implements ntconv.Watcher.
//
// An input is read more than once for two reasons. First, something must be known before the first event: symbols, the
// end of the trace, or a Lookahead. One reading before the pass learns all of it. Second, the pass made an assumption
// that turned out to be wrong: that no event shows that a Lookahead is needed (Lookahead.Shows), or that neither the
// order nor late symbols matter (Plan.AnyOrder). The pass is then repeated.
//
// # State
//
// A Plan is constant. A Lookahead and the Input keep their state across passes; each run creates a new Pass.
//
//	state                      set by                                 read or invalidated by
//	Lookahead.shown                observe, when Shows returns true       waits, due: the Lookahead becomes due
//	Lookahead.done                 scan, at the end of its reading        due: it is never learned again
//	Input.Last, Input.Ended    scan                                   Last, which then needs no reading
//	Pass.Order, Pass.shortcut  first; Do for the pass without them    options, wrong
//	Pass.waiting               first                                  observe, when an event shows the need
//	Pass.found                 observe, if the input is rereadable    Next ends; Drain and run return errLookahead
//	Pass.Unlearned             observe, if it is not                  the caller, after the pass
//	Pass.learn, Pass.Namer     run                                    observe; AppendFrames of the sink
//	Pass.recorded, Pass.losses observe                                Recorded, Span; Losses
//	Pass.watch                 Drain, before the first event          keep
//	Pass.endErr                end, once                              end returns it again
//	Pass.close                 run                                    Drain, run and Close; only the first call acts
//
// The errors errLookahead and errShortcut never leave Do: they make it repeat the pass.
//
// # Memory
//
// A [MemoryLimit] bounds the memory of a process. It ends the work with an error before the machine swaps or the
// operating system kills the process. It covers memory that no limit of a single table counts.
//
// It enforces two bounds. [MemoryLimit.Check] compares the live heap, which the garbage collector cannot free, with the
// limit. [MemoryLimit.Watch] calls it between events, and outputs call it between blocks of bytes, where the work can
// end with an error. In addition, a goroutine watches the memory in use as the operating system sees it, including
// garbage, because some calls allocate most of a profile's memory without reading an event or writing a byte.
//
// # Summary
//
// A [Summary] describes a run: what it read and wrote, and what was lost, as a line of text and as a JSON object.
package pass
