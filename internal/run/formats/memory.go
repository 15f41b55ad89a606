package formats

import (
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/ntconv/ntconv/reader"
)

// FlagMemory is the name of the flag that limits the live heap of the command.
const FlagMemory = "max-memory"

// Divisors of the memory limit: one value of an input may take 1/valueShare of it, the events of a window
// 1/windowShare. A value is in memory up to three times: as input text, in the buffer that grows, and decoded.
const (
	valueShare  = 4
	windowShare = 2
)

// share returns a limit on what is in memory at a time: def, or 1/part of the memory limit if that is less.
func (o *ReadOptions) share(def int, part int64) int {
	if o.Memory <= 0 {
		return def
	}
	return int(min(int64(def), max(o.Memory/part, 1)))
}

// windowed returns the limits of the reader, with the window reduced to its share of the memory limit.
func (o *ReadOptions) windowed() reader.Limits {
	l := o.Limits
	if l.WindowBytes == 0 {
		l.WindowBytes = o.share(windowBytes, windowShare)
	}
	return l
}

// windowBytes is the default of reader.Limits.WindowBytes.
const windowBytes = 512 << 20

// followsMemory reports whether share has lowered the limit with that name to value, so that --max-memory raises it.
func followsMemory(limit string, value int64) bool {
	switch limit {
	case chrome.LimitValue:
		return value < int64(chrome.Limits{}.Defaults().Value)
	case folded.LimitLine:
		return value < int64(folded.Limits{}.Defaults().Line)
	case jsonio.LimitValue:
		return value < jsonio.DefaultValue
	case otlp.LimitMessage:
		return value < int64(otlp.Limits{}.Defaults().Message)
	case parquetreader.LimitPageBytes:
		return value < defaultPage
	}
	return false
}

// defaultPage is the default of parquet.Limits.PageBytes.
const defaultPage = 256 << 20
