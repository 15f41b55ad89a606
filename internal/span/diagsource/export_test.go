package diagsource

// Names of the package's inside that tests use.
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
