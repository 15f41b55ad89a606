// Package diagnostics finds running .NET processes and sends them requests: it is a client of the diagnostic IPC protocol
// that .NET has since version 3.0.
//
//	processes, err := diagnostics.Find()
//	session, err := diagnostics.NewClient(processes[0].Socket).Collect(ctx, diagnostics.Config{
//		RundownKeywords: diagnostics.DefaultRundown,
//		Providers:       []diagnostics.Provider{{Name: "Microsoft-DotNETCore-SampleProfiler", Level: 4}},
//	})
//	go io.Copy(file, session) // until the session ends; see Session.Stop
//
// A process listens on a Unix socket in its temporary directory, or on a named pipe on Windows. A Client connects there
// for each request. A Port is the opposite direction: it listens, and processes that are started with the environment
// variable DOTNET_DiagnosticPorts connect to it, if wanted before they run any code of the program.
//
// The process behind a socket is not trusted. Whatever it answers, a request ends after Client.Timeout, uses memory in
// proportion to the bytes that have arrived, and returns ErrProtocol if the answer is not valid. Only the stream of a
// Session has no time limit, because a process without events sends nothing.
//
// The layouts of messages are those of documentation/design-docs/ipc-protocol.md in github.com/dotnet/diagnostics. Where
// the page and the runtime differ, this package does what the runtime does (src/native/eventpipe in
// github.com/dotnet/runtime). Named pipes are implemented according to that page and have not been tested with a runtime.
package diagnostics
