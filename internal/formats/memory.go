package formats

import (
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/jsonread"
	"github.com/ntconv/ntconv/internal/parquetreader"
	"github.com/ntconv/ntconv/reader"
)

// FlagMemory is the name of the flag that limits the memory of the command.
const FlagMemory = "max-memory"

// What of the memory of a command one value of an input may take, and the events that a window holds. A value is in
// memory as text, as the text that grows, and as what it means, and a window is not all that a conversion holds.
const (
	valueShare  = 4
	windowShare = 2
)

// share returns the limit of what is held at a time: its default, or a part of the memory of the command if that is
// less.
func (o *ReadOptions) share(def int, part int64) int {
	if o.Memory <= 0 {
		return def
	}
	return int(min(int64(def), max(o.Memory/part, 1)))
}

// windowed returns the limits of the reader of traces.
func (o *ReadOptions) windowed() reader.Limits {
	l := o.Limits
	if l.WindowBytes == 0 {
		l.WindowBytes = o.share(windowBytes, windowShare)
	}
	return l
}

// windowBytes is the default of reader.Limits.WindowBytes.
const windowBytes = 512 << 20

// followsMemory reports whether a limit with that name and value was lowered because of the memory of the command.
func followsMemory(limit string, value int64) bool {
	switch limit {
	case chrome.LimitValue:
		return value < int64(chrome.Limits{}.Defaults().Value)
	case jsonread.LimitValue:
		return value < jsonread.DefaultValue
	case otlp.LimitMessage:
		return value < int64(otlp.Limits{}.Defaults().Message)
	case parquetreader.LimitPageBytes:
		return value < defaultPage
	}
	return false
}

// defaultPage is the default of parquet.Limits.PageBytes.
const defaultPage = 256 << 20
