package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// A piece is a file with rows for a commit: a table of one trace that is being added, or a file of a commit that is replaced.
type piece struct {
	name      string // of the file; "" if data has its content
	data      []byte
	table     string
	place     string // directories of its partition
	order     *Manifest
	constants []parquetwriter.Constant // of a trace that is being added; the file does not have them yet
	without   map[string]bool          // traces of a replaced commit whose rows are not kept
}

// A packer makes the files of a commit.
type packer struct {
	id      string
	staging string
	traces  map[string]*Manifest
}

// pack makes the files of a commit from pieces, and names them by their positions. The rows of one table and partition are in one
// file, in the order of the traces, if their columns are equal.
func (p *packer) pack(pieces []piece) ([]File, error) {
	type group struct{ table, place string }
	groups := make(map[group][]piece)
	for _, one := range pieces {
		g := group{one.table, one.place}
		groups[g] = append(groups[g], one)
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(CompareTables(a.table, b.table), cmp.Compare(a.place, b.place))
	})
	// Groups are made concurrently; their files have the order of the groups.
	made := make([][]File, len(keys))
	err := parallel(len(keys), runtime.GOMAXPROCS(0), func(i int) (err error) {
		if made[i], err = p.group(p.groupDir(i), keys[i].table, keys[i].place, groups[keys[i]]); err != nil {
			err = fmt.Errorf("table %s: %w", keys[i].table, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var files []File
	for i := range made {
		for k, f := range made[i] {
			if err := os.Rename(filepath.Join(p.groupDir(i), stagedFile(k)), filepath.Join(p.staging, stagedFile(len(files)))); err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return files, nil
}

// CompareTables is the order in which tables are published: by name, and the last one is that of lastTable.
func CompareTables(a, b string) int { return cmp.Or(lastTable(a)-lastTable(b), cmp.Compare(a, b)) }

// lastTable returns 1 for the table whose files are the last of a commit, else 0: a trace is whole when its row of trace_info appears.
func lastTable(name string) int {
	if name == tables.Of[tables.TraceInfo]().Name {
		return 1
	}
	return 0
}

// groupDir returns the directory of the files of a group until all groups are made.
func (p *packer) groupDir(i int) string { return filepath.Join(p.staging, fmt.Sprint("group", i)) }

// A source is an opened piece.
type source struct {
	piece
	f    store.File // nil if the content is in memory
	size int64
	rows *parquetwriter.File
}

// group makes the files of one table and partition in a new directory.
func (p *packer) group(dir, table, place string, pieces []piece) (files []File, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	var sources []*source
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()
	for _, one := range pieces {
		s, err := open(one)
		if s != nil {
			sources = append(sources, s)
		}
		if err != nil {
			return nil, err
		}
	}
	bySchema := make(map[string][]*source)
	var order []string
	for _, s := range sources {
		if s.rows.Rows() == 0 {
			continue
		}
		schema := s.schema()
		if bySchema[schema] == nil {
			order = append(order, schema)
		}
		bySchema[schema] = append(bySchema[schema], s)
	}
	for i, schema := range order {
		f, err := p.file(filepath.Join(dir, stagedFile(len(files))), table, bySchema[schema])
		if err != nil {
			return nil, err
		}
		if f.Rows > 0 {
			f.Table, f.Columns = table, columnsID(schema)
			f.Path = path.Join(table, place, fmt.Sprintf("%s-%d.parquet", p.id, i))
			files = append(files, f)
		}
	}
	return files, nil
}

func open(one piece) (*source, error) {
	s := &source{piece: one, size: int64(len(one.data))}
	var r io.ReaderAt = bytes.NewReader(one.data)
	if one.name != "" {
		f, err := store.Open(one.name)
		if err != nil {
			return nil, err
		}
		s.f, r, s.size = f, f, f.Size()
	}
	var err error
	s.rows, err = parquetwriter.OpenFile(r, s.size)
	return s, err
}

// close closes the file.
func (s *source) close() {
	if s.f != nil {
		s.f.Close()
	}
}

// schema describes the columns of the file in the commit: a piece with its constants joins one whose file has them.
func (s *source) schema() string { return parquetwriter.SchemaWith(s.rows, s.constants) }

// file makes one file of pieces with equal columns. Without rows that are kept it makes none.
func (p *packer) file(to, table string, sources []*source) (f File, err error) {
	parts, whole, err := p.parts(sources)
	if err != nil || len(parts) == 0 {
		return File{}, err
	}
	switch {
	case !whole || sources[0].f == nil: // or a small table, which is not in a file
		f, err = join(parts, table, to)
	case len(sources[0].constants) > 0:
		f, err = take(sources[0], to)
	default:
		if err = link(sources[0].name, to); err == nil {
			f, err = describeFile(to)
		}
	}
	for _, part := range parts {
		f.Rows += part.To - part.From
	}
	return f, err
}

// columnsID returns File.Columns for a description of the columns.
func columnsID(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return hex.EncodeToString(sum[:4])
}

// parts returns the rows that are kept, in the order of the traces. whole means that these are all rows of one file.
func (p *packer) parts(sources []*source) (parts []parquetwriter.Part, whole bool, err error) {
	type ordered struct {
		parquetwriter.Part
		of *Manifest
	}
	var list []ordered
	for _, s := range sources {
		if s.order != nil {
			list = append(list, ordered{parquetwriter.Part{File: s.rows, To: s.rows.Rows(), Constants: s.constants}, s.order})
			continue
		}
		runs, err := s.rows.Runs(TraceKey)
		if err != nil {
			return nil, false, err
		}
		for _, run := range runs {
			if m := p.traces[run.Value]; m != nil && !s.without[run.Value] {
				list = append(list, ordered{parquetwriter.Part{File: s.rows, From: run.From, To: run.To}, m})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b ordered) int { return byStart(a.of, b.of) })
	kept := int64(0)
	for _, o := range list {
		parts = append(parts, o.Part)
		kept += o.To - o.From
	}
	return parts, len(sources) == 1 && kept == sources[0].rows.Rows(), nil
}

// take adds the constants to the file of a trace that is being added. The file keeps its name, for another attempt to publish.
func take(s *source, to string) (File, error) {
	if err := link(s.name, to); err != nil {
		return File{}, err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	size, err := parquetwriter.AddConstants(f, s.size, s.constants)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Sync())
	}
	if err != nil {
		return File{}, err
	}
	return describeFile(to)
}

// link gives a file a second name, or copies it where there are no hard links.
func link(from, to string) error {
	if !store.Is(from) && os.Link(from, to) == nil {
		return nil
	}
	f, err := store.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = writeStaged(to, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f, 0, f.Size()))
		return err
	})
	return err
}

// join writes parts into one file.
func join(parts []parquetwriter.Part, table, to string) (File, error) {
	first := parts[0].File
	o := &parquetwriter.Options{Bloom: first.Bloom(), Metadata: map[string]string{
		tables.TableKey: table, tables.VersionKey: first.Metadata(tables.VersionKey),
	}}
	f, err := writeStaged(to, func(w io.Writer) error { return parquetwriter.Join(w, parts, o) })
	if err != nil {
		return File{}, err
	}
	// Files are about to be removed for this one.
	s, err := open(piece{name: to})
	if err != nil {
		return File{}, err
	}
	defer s.close()
	return f, s.rows.Check()
}

// writeStaged writes and syncs a file, and describes it.
func writeStaged(name string, write func(io.Writer) error) (File, error) {
	f, err := os.Create(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	if err := write(io.MultiWriter(f, h)); err != nil {
		return File{}, err
	}
	if err := f.Sync(); err != nil {
		return File{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	return File{Size: info.Size(), SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
