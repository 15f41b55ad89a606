// Package live has the models of screens that show a running process. They know no terminal.
//
//	events → profile.Stream → Window      samples of the last seconds → Ranking of functions
//	events → metrics.Reader → Instruments latest point of each time series → rows
//
// Samples have the weights of profiles, and points those of OTLP: the package adds up and remembers, and reads no payloads.
package live
