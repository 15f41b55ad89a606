package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

const flagMap = "map"

// parquetIn returns the reading half of Parquet.
func parquetIn() *In {
	return &In{
		// PARE begins a file with an encrypted footer, for which the importer has an error of its own.
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		SniffDir: func(members []string) bool { return len(parquetMembers(members)) > 0 },
		Bind: func(flags *pflag.FlagSet) Opener {
			o := &parquetOpener{notes: map[string]bool{}}
			flags.StringToStringVar(&o.mapping, flagMap, nil, "for Parquet files of other programs: `role=column` pairs, such as "+
				"time=ts:us,name=event,duration=dur; roles: "+strings.Join(parquet.Roles(), ", "))
			flags.Lookup(flagMap).DefValue = "" // without it the help shows "default []"
			return o
		},
		Needed:   true,
		Random:   true,
		NoBytes:  Advice{"an empty file", "check that the program that wrote it has closed it"},
		NoEvents: Advice{"the tables have no rows of events", "check the query or selection that wrote them"},
	}
}

// A parquetOpener has the flag of Parquet inputs.
type parquetOpener struct {
	mapping map[string]string

	mu    sync.Mutex // guards notes: inputs may be opened concurrently
	notes map[string]bool
}

func (p *parquetOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	opts := &parquet.Options{
		ByTime: o.Order == reader.ByTime, Map: p.mapping, Report: o.Report, MaxTemp: o.MaxTemp, Limits: parquet.Limits{TableBytes: int64(o.Limits.TableBytes)},
		Mapped: func(m parquet.Mapping) { p.note(in.Name(), m) },
	}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.PageBytes = int64(o.share(defaultPage, valueShare))
	tables, err := parquetTables(in)
	if err != nil {
		return nil, err
	}
	src, err := parquet.New(tables, opts)
	var mapping *parquet.MappingError
	if errors.As(err, &mapping) {
		separator := " "
		if mapping.Role == "" {
			separator = ": "
		}
		return nil, &FlagError{"--" + flagMap + separator + mapping.Error()}
	}
	return src, err
}

// note records the roles of the columns for Notes, unless the user has chosen all of them.
func (p *parquetOpener) note(name string, m parquet.Mapping) {
	if maps.Equal(p.mapping, m) {
		return
	}
	var pairs []string
	for _, role := range parquet.Roles() {
		if m[role] != "" {
			pairs = append(pairs, role+"="+m[role])
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes[fmt.Sprintf("%s is read with --%s %s", name, flagMap, strings.Join(pairs, ","))] = true
}

// ForRun implements Opener.
func (p *parquetOpener) ForRun() Opener {
	return &parquetOpener{mapping: p.mapping, notes: map[string]bool{}}
}

// Notes implements Opener.
func (p *parquetOpener) Notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.notes))
}

// parquetMembers returns the members of a directory that are tables. If events.parquet is one of them, the directory is
// a trace and only its top level counts; in other directories, names that begin with an underscore or a dot are not
// data, as in Hive and Spark.
func parquetMembers(members []string) (list []string) {
	for _, m := range members {
		if isParquetName(m) && !strings.Contains("/"+m, "/_") && !strings.Contains("/"+m, "/.") {
			list = append(list, m)
		}
	}
	top := slices.DeleteFunc(slices.Clone(list), func(m string) bool { return strings.Contains(m, "/") })
	if slices.Contains(top, "events.parquet") {
		return top
	}
	return list
}

func isParquetName(name string) bool { return strings.EqualFold(path.Ext(name), ".parquet") }

// parquetTables returns the tables of a file or directory.
func parquetTables(in Input) (parquet.Tables, error) {
	r, size, err := in.At()
	if err == nil {
		base := path.Base(strings.ReplaceAll(in.Name(), `\`, "/"))
		return parquet.File(cmp.Or(strings.TrimSuffix(base, path.Ext(base)), base), r, size), nil
	}
	members, none := in.Members()
	if none != nil && !errors.Is(none, errors.ErrUnsupported) { // a directory that cannot be listed
		err = none
	}
	if none != nil || len(members) == 0 {
		return nil, err
	}
	t := &memberTables{in: in, members: map[string]string{}}
	for _, m := range parquetMembers(members) {
		name := strings.TrimSuffix(m, path.Ext(m))
		t.members[name] = m
		t.names = append(t.names, name)
	}
	return t, nil
}

// memberTables are the tables in a directory, by name without extension.
type memberTables struct {
	in      Input
	names   []string
	members map[string]string
}

func (t *memberTables) Names() []string { return t.names }

func (t *memberTables) Table(name string) (io.ReaderAt, int64, error) {
	m, err := t.in.Member(t.members[name])
	if err != nil {
		return nil, 0, err
	}
	return m.At()
}
