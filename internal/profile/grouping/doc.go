// Package grouping replaces frames of stacks: it folds frames into their callers and shows sets of frames as one. The
// weight of a sample does not change and no stack becomes empty, so the totals of a profile stay the same.
//
// [Rules] hold what the user asked for. Their [Namer] wraps another Namer and applies them to its frames, so every
// sink that resolves stacks by a Namer can have them. The rules apply to each frame in this order, and the first one
// that applies decides:
//
//  1. A group ([Rules.AddGroup]) replaces matching frames by a frame with the name of the group.
//  2. [Rules.Native] replaces unresolved frames of a module by a frame with the name of the module.
//  3. A fold ([Rules.AddFold]) removes matching frames. It sees the names that the first two rules gave.
//  4. [Rules.JustMyCode] removes frames of the runtime, the framework and the operating system that are in no group.
//
// Then adjacent frames of the same group or module become one frame. A frame that is removed is folded into its caller:
// its callees, or the value of the sample if it was the leaf, now belong to the next outer frame. If a removed frame
// has no caller left, its callees become the outermost frames. If no frame is left, one placeholder represents the
// stack: [framework] or [folded].
//
// # Expressions
//
// An expression matches a frame if it matches a part of the function's name as it is displayed, or of MODULE!NAME,
// where MODULE is the file name of the module without .dll and .exe. Frames that represent labels never match.
//
// # Code of the program
//
// JustMyCode distinguishes three classes of frames. The framework is the .NET runtime, the assemblies of the shared
// frameworks, also if they were published with the program, and the operating system: its kernel and its libraries.
// Generated code without a file, such as stubs and dynamic methods, and addresses outside all modules belong to their
// callers. Everything else is the program, including its packages. See classOf.
package grouping
