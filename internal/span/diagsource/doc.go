// Package diagsource decodes the Activities that .NET records through the event source Microsoft-Diagnostics-DiagnosticSource.
package diagsource
