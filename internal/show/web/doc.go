// Package web shows profiles and traces in a browser.
//
// # Profiles
//
// [View] displays a profile in memory with pprof's own report and web pages. It runs the driver of go tool
// pprof as a function: it does not fetch, symbolize, ask for or save anything. Profiles are untrusted: no file that a
// profile names is opened, except source files in directories that the user permitted, and no program is run, except
// dot if the user requested graphs.
//
// # Files
//
// [FileServer] passes a file to a web application that shows traces. It serves the file from this machine, only to
// pages of that application.
package web
