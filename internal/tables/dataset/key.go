package dataset

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// A Key is a partition key: one level of directories, whose names state a property of the traces in them.
type Key string

// Partition keys. Keys of time use the start of the recording in UTC: year=2026, month=2026-11, day=2026-11-21,
// hour=06.
const (
	Year    Key = "year"
	Month   Key = "month"
	Day     Key = "day"
	Hour    Key = "hour"
	Service Key = "service"
	Process Key = "process"
	Host    Key = "host"
	OS      Key = "os"
	Arch    Key = "arch"
)

// Keys returns all partition keys.
func Keys() []Key { return []Key{Year, Month, Day, Hour, Service, Process, Host, OS, Arch} }

// DefaultKeys returns the keys of a new dataset if the user has chosen none.
func DefaultKeys() []Key { return []Key{Day, Service} }

// nullValue is the directory value of an unknown property, as in Hive. Query engines read it as NULL.
const nullValue = "__HIVE_DEFAULT_PARTITION__"

// Properties are the values of the keys. An empty member or the zero time means unknown.
type Properties struct {
	Start   time.Time `json:"start,omitzero"` // of the recording
	Service string    `json:"service,omitempty"`
	Process string    `json:"process,omitempty"` // name of the process
	Host    string    `json:"host,omitempty"`
	OS      string    `json:"os,omitempty"`
	Arch    string    `json:"arch,omitempty"`
}

// value returns the value of a key, and "" if it is unknown.
func (k Key) value(p *Properties) string {
	layout := ""
	switch k {
	case Service:
		return p.Service
	case Process:
		return p.Process
	case Host:
		return p.Host
	case OS:
		return p.OS
	case Arch:
		return p.Arch
	case Year:
		layout = "2006"
	case Month:
		layout = "2006-01"
	case Day:
		layout = "2006-01-02"
	case Hour:
		layout = "15"
	}
	if p.Start.IsZero() {
		return ""
	}
	return p.Start.UTC().Format(layout)
}

// directory returns the directory name for the value of a key.
func (k Key) directory(p *Properties) string { return string(k) + "=" + escape(k.value(p)) }

// constant returns the column of the key. Its value is that of the directory.
func (k Key) constant(p *Properties) parquetwriter.Constant {
	text := k.Canonical(k.value(p))
	c := parquetwriter.Constant{Name: string(k), Kind: parquetwriter.KindString, Text: text, Null: text == ""}
	switch k {
	case Day:
		c.Kind, c.Int = parquetwriter.KindDate, int32(p.Start.Unix()/(24*60*60))
	case Year, Hour:
		n, _ := strconv.Atoi(text)
		c.Kind, c.Int = parquetwriter.KindInt32, int32(n)
	}
	return c
}

// constants returns the columns that all files have: the UID of the trace and the partition keys. With "" they are NULL.
func (d *Dataset) constants(uid string, p *Properties) []parquetwriter.Constant {
	list := []parquetwriter.Constant{{Name: TraceKey, Kind: parquetwriter.KindString, Text: uid, Null: uid == ""}}
	for _, key := range d.config.Partition {
		list = append(list, key.constant(p))
	}
	return list
}

// place returns the directories of the partition keys below that of a table, with slashes.
func (d *Dataset) place(p *Properties) string {
	parts := make([]string, len(d.config.Partition))
	for i, key := range d.config.Partition {
		parts[i] = key.directory(p)
	}
	return path.Join(parts...)
}

// Values returns the values of the partition keys of a trace. An unknown value is "".
func (d *Dataset) Values(p *Properties) map[string]string {
	values := make(map[string]string)
	for _, key := range d.config.Partition {
		values[string(key)] = key.Canonical(key.value(p))
	}
	return values
}

// ParseKeys parses a comma-separated list of keys. An unknown or repeated key is an error.
func ParseKeys(list string) ([]Key, error) {
	var keys []Key
	for name := range strings.SplitSeq(list, ",") {
		keys = append(keys, Key(strings.TrimSpace(name)))
	}
	return keys, checkKeys(keys)
}

// JoinKeys is the inverse of ParseKeys.
func JoinKeys(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = string(k)
	}
	return strings.Join(names, ",")
}

func checkKeys(keys []Key) error {
	for i, k := range keys {
		if !slices.Contains(Keys(), k) {
			return fmt.Errorf("no such partition key: %q; want some of %s", string(k), JoinKeys(Keys()))
		}
		if slices.Contains(keys[:i], k) {
			return fmt.Errorf("partition key %s is given twice", k)
		}
	}
	return nil
}

// maxValue is the maximum size of a value in bytes before escaping. File systems accept names of 255 bytes, and
// escaping turns a byte into up to three.
const maxValue = 80

// escape returns a value as Hive writes it in a directory name: special characters of file systems and of Hive, and
// bytes that are not ASCII, are percent-encoded. Longer values are truncated to maxValue bytes. DuckDB reads NULL, in any case of
// its letters, as NULL, unless a letter is encoded. No encoding distinguishes nullValue for all engines: Hive and Trino decode
// names before they compare them. So a value of that name is an unknown one.
func escape(value string) string {
	if value == "" {
		return nullValue
	}
	if len(value) > maxValue {
		value = strings.ToValidUTF8(value[:maxValue], "")
	}
	var b strings.Builder
	for i := range len(value) {
		if c := value[i]; isPlain(c, i == 0 || i == len(value)-1) && !(i == 0 && strings.EqualFold(value, "null")) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Canonical returns the value of a key as Values returns it for a trace that has it: an hour has two digits, and names are truncated. It
// is "" if the value is unknown, also for the name of its directory.
func (k Key) Canonical(value string) string {
	if k == Hour && len(value) == 1 {
		value = "0" + value
	}
	value, _ = unescape(escape(value))
	return value
}

// Escape returns a value as a name of a file or directory, as in those of partition keys. The value must not be "".
func Escape(value string) string { return escape(value) }

// isPlain reports whether a byte of a value needs no escaping. A dot at the start or end of a value and all spaces are
// escaped, because Windows removes them at the end of a name.
func isPlain(c byte, edge bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		return true
	case c == '.':
		return !edge
	}
	return false
}

// unescape is the inverse of escape. ok is false if text is malformed.
func unescape(text string) (value string, ok bool) {
	if text == nullValue {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", false
		}
		var c byte
		if _, err := fmt.Sscanf(text[i+1:i+3], "%02X", &c); err != nil {
			return "", false
		}
		b.WriteByte(c)
		i += 2
	}
	return b.String(), true
}
