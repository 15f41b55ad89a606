package diagsource

import "github.com/ntconv/ntconv/internal/span"

// Internal names for tests.
var (
	Clone       = clone
	AppendTags  = appendTags
	NewLists    = func(typed bool) *lists { return &lists{typed: typed} }
	PropertyOf  = propertyOf
	ParseHex    = parseHex
	TimeSpan    = parseTimeSpan
	Timestamp   = parseTimestamp
	Decimal     = parseDecimal
	ParseMillis = parseMillis
)

func (l *lists) ParseEvents(text string) uint32 { return l.parseEvents(text) }
func (l *lists) ParseLinks(text string) uint32  { return l.parseLinks(text) }
func (l *lists) Events() []span.Event           { return l.events }
func (l *lists) Links() []span.Link             { return l.links }
