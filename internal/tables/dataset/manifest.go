package dataset

import (
	"encoding/hex"
	"time"
)

// A Manifest describes a trace.
type Manifest struct {
	UID     string `json:"uid"`                     // the first uidDigits digits of SHA256
	SHA256  string `json:"sha256"`                  // of the decompressed content of the trace, in hexadecimal
	Source  string `json:"source"`                  // name of the input
	Size    int64  `json:"size"`                    // stored bytes of the input, -1 if unknown
	Content int64  `json:"content_bytes,omitempty"` // bytes that SHA256 covers
	Format  string `json:"format"`                  // format and version of the input
	Properties
	Duration   time.Duration `json:"duration_ns"` // of the selected part of the recording
	Events     int64         `json:"events"`      // events in the tables
	Lost       int64         `json:"lost_events"` // events that the recorder lost
	Incomplete string        `json:"incomplete,omitempty"`
	Selection  string        `json:"selection,omitempty"` // selection of events; "" if the tables have all
	Settings   string        `json:"settings,omitempty"`  // other flags that determine the tables; "" for the defaults
	Schema     int           `json:"schema"`              // version of the tables
	Version    string        `json:"ntconv_version"`
	Added      time.Time     `json:"added"`
	Bytes      int64         `json:"table_bytes"` // size of the tables before they were joined with those of other traces
}

// uidDigits is the number of hexadecimal digits of a UID. With a million traces, two have the same UID with a
// probability of 3 in 10^8.
const uidDigits = 16

// UIDOf returns the UID for a SHA-256 sum, which must have 32 bytes.
func UIDOf(sum []byte) string { return hex.EncodeToString(sum)[:uidDigits] }

// IsUID reports whether text has the form of a UID.
func IsUID(text string) bool {
	if len(text) != uidDigits {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
