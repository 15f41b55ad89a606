// Package readytorun finds the methods that contain addresses of precompiled .NET code: ReadyToRun images, as
// crossgen2 writes them, including composite images (readytorun-format.md and readytorun.h of dotnet/runtime; tested
// with images of versions 2.2 and 16.0).
//
// A lookup returns the names that the runtime's method events have for the same method, so that both are spelled and
// aggregated alike. The input is untrusted: see package ecma.
package readytorun
