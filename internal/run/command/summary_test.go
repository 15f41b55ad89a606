package command

import "github.com/ntconv/ntconv/internal/run/pass"

// A summaryJSON is what --report json writes.
type summaryJSON struct {
	Input, Format, Output, To, Kind, Unit, Detail, Error string
	Inputs, Notes                                        []string
	Events, Selected, Symbols, Used, Items, Bytes        int64
	Report                                               []pass.Entry
	Exit                                                 int
}
