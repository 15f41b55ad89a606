package firefox

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Sample types of the events. Allocations have names like those in profiles of Go.
var (
	samplesType       = imported.ValueType{Type: "samples", Unit: "count"}
	timeType          = imported.ValueType{Type: "time", Unit: "nanoseconds"}
	cpuType           = imported.ValueType{Type: "cpu", Unit: "nanoseconds"}
	cyclesType        = imported.ValueType{Type: "cpu", Unit: "cycles"}
	bytesType         = imported.ValueType{Type: "bytes", Unit: "bytes"}
	nativeObjectsType = imported.ValueType{Type: "native_objects", Unit: "count"}
	nativeSpaceType   = imported.ValueType{Type: "native_space", Unit: "bytes"}
	nativeFreedType   = imported.ValueType{Type: "native_freed", Unit: "bytes"}
	jsObjectsType     = imported.ValueType{Type: "js_objects", Unit: "count"}
	jsSpaceType       = imported.ValueType{Type: "js_space", Unit: "bytes"}
)

// A meta holds the member meta.
type meta struct {
	start      int64 // nanoseconds since 1970
	interval   int64 // nanoseconds
	version    int64 // of the processed format; 0 if the profile is not processed
	gecko      int64 // version of the format in which Firefox recorded the profile
	product    string
	categories []string
	schemas    map[string]map[string]bool // by type of marker data: members that are string indexes
	timeless   bool                       // the column time contains bytes
	cpu        imported.ValueType         // type and unit of threadCPUDelta
	cpuScale   int64                      // factor from values of the file to cpu
}

var metaMembers = []string{"startTime", "interval", "preprocessedProfileVersion", "product", "categories", "markerSchema", "sampleUnits", "version"}

// format returns the name of the format with its version.
func (m *meta) format() string {
	if m.version == 0 {
		return fmt.Sprintf("firefox gecko %d", m.gecko)
	}
	return fmt.Sprintf("firefox %d", m.version)
}

// readMeta reads the member meta of the file. It rejects versions that cannot be read.
func (f *file) readMeta() error {
	m, err := f.parseMeta()
	if err == nil {
		err = f.checkVersion(m)
	}
	f.meta = m
	return err
}

func (f *file) parseMeta() (*meta, error) {
	m := &meta{schemas: map[string]map[string]bool{}, cpu: cyclesType, cpuScale: 1}
	err := f.Object(metaMembers, func(i int) (err error) {
		switch i {
		case 0:
			m.start, _, _, err = f.Scaled(6)
		case 1:
			m.interval, _, _, err = f.Scaled(6)
		case 2:
			m.version, err = f.Index(0, 1<<31, 0)
		case 3:
			m.product, err = f.String()
		case 4:
			err = f.Array(func(int) error { return m.category(f) })
		case 5:
			err = f.Array(func(int) error { return m.schema(f) })
		case 6:
			err = m.units(f)
		case 7:
			m.gecko, err = f.Index(0, 1<<31, 0)
		}
		return err
	})
	m.start = max(m.start, 0)
	return m, err
}

func (m *meta) category(f *file) error {
	return f.Object([]string{"name"}, func(int) error {
		name, err := f.String()
		m.categories = append(m.categories, name)
		return f.charged(err, stringBytes+len(name))
	})
}

// schema collects the members of a marker's data that are string indexes.
func (m *meta) schema(f *file) error {
	var name string
	indexes := map[string]bool{}
	fields := func(int) error {
		var key, format string
		err := f.Object([]string{"key", "format"}, func(i int) (err error) {
			if i == 0 {
				key, err = f.String()
				return err
			}
			if k := f.Kind(); k != '"' { // the format of a table is an object
				return f.Skip()
			}
			format, err = f.String()
			return err
		})
		if format == "unique-string" || format == "flow-id" || format == "terminating-flow-id" {
			indexes[key] = true
		}
		return f.charged(err, stringBytes+len(key))
	}
	err := f.Object([]string{"name", "fields", "data"}, func(i int) (err error) {
		if i == 0 {
			name, err = f.String()
			return err
		}
		return f.Array(fields)
	})
	if len(indexes) > 0 {
		m.schemas[name] = indexes
	}
	return f.charged(err, stringBytes+len(name))
}

// units reads the units of the columns time and threadCPUDelta.
func (m *meta) units(f *file) error {
	return f.Object([]string{"time", "threadCPUDelta"}, func(i int) error {
		unit, err := f.String()
		switch {
		case i == 0:
			m.timeless = unit == "bytes"
		case unit == "ns":
			m.cpu = cpuType
		case unit == "µs" || unit == "μs":
			m.cpu, m.cpuScale = cpuType, 1000
		}
		return err
	})
}

// charged charges n bytes against Limits.Tables, or returns them if n is negative. It does nothing if err is not nil.
func (f *file) charged(err error, n int) error {
	if err == nil {
		if err = f.b.Charge(int64(n)); err != nil {
			err = f.Fail(f.Place(), err)
		}
	}
	return err
}
