package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"

	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// A State is what a dataset has at one moment.
type State struct {
	Dataset string        // its identity, which stays the same when the dataset is moved
	Dir     string        // its directory, for messages
	Keys    []dataset.Key // partition keys, outermost first
	Tables  []Table       // sorted by name, except that trace_info is the last: a trace with a row there is whole
	Partial bool          // Select has omitted tables
	Commits []string      // IDs of the commits of the dataset
}

// A Table is a table of a dataset.
type Table struct {
	Name string
	// Promised writes a Parquet file without rows that has the promised columns. It is nil for tables whose columns are not promised:
	// those of typed events that are not of the runtime.
	Promised func(io.Writer) error
	Files    []File // that have rows, sorted by location
}

// A File is a Parquet file of a table. Files do not change.
type File struct {
	Location string // absolute path or address
	Columns  string // identifies the columns: files with equal ones have the same
	Rows     int64
	Size     int64
	Values   []string // of the partition keys; "" is unknown
}

// Of returns the state of a dataset. An error means that a commit cannot be read; there is no state without it, because its files
// would seem to be removed.
func Of(d *dataset.Dataset) (*State, error) {
	id, err := d.Identity()
	if err != nil {
		return nil, err
	}
	commits, err := d.Commits()
	if err != nil {
		return nil, err
	}
	tables := make(map[string]*Table)
	for _, p := range d.Promises() {
		tables[p.Table] = &Table{Name: p.Table, Promised: p.Write}
	}
	s := &State{Dataset: id, Dir: d.Dir(), Keys: d.Config().Partition}
	for _, c := range commits {
		s.Commits = append(s.Commits, c.ID)
		for i := range c.Files {
			f := &c.Files[i]
			t := tables[f.Table]
			if t == nil {
				t = &Table{Name: f.Table}
				tables[f.Table] = t
			}
			if f.Rows == 0 {
				continue // the table exists without it
			}
			file := File{Columns: f.Columns, Rows: f.Rows, Size: f.Size}
			if file.Location, err = d.Location(f); err != nil {
				return nil, err
			}
			if file.Values, err = d.PartitionOf(f); err != nil {
				return nil, err
			}
			t.Files = append(t.Files, file)
		}
	}
	for _, t := range tables {
		slices.SortFunc(t.Files, func(a, b File) int { return cmp.Compare(a.Location, b.Location) })
		s.Tables = append(s.Tables, *t)
	}
	slices.SortFunc(s.Tables, func(a, b Table) int {
		return dataset.CompareTables(a.Name, b.Name)
	})
	return s, nil
}

// Select keeps only the tables with the names, and returns the names of which there is no table. Without names it keeps all.
func (s *State) Select(names []string) (missing []string) {
	for _, name := range names {
		if s.Table(name) == nil {
			missing = append(missing, name)
		}
	}
	if len(names) > 0 {
		s.Partial = true
		s.Tables = slices.DeleteFunc(s.Tables, func(t Table) bool { return !slices.Contains(names, t.Name) })
	}
	return missing
}

// Table returns a table by name, nil if there is none.
func (s *State) Table(name string) *Table {
	i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Tables[i]
}

// Hash identifies the set of files of the table: tables with equal hashes have the same files.
func (t *Table) Hash() string {
	h := sha256.New()
	for i := range t.Files {
		io.WriteString(h, t.Files[i].Location+"\n") // never fails
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// Rows returns the number of rows of the files.
func (t *Table) Rows() (n int64) {
	for i := range t.Files {
		n += t.Files[i].Rows
	}
	return n
}

// Bytes returns the total size of the files.
func (t *Table) Bytes() (n int64) {
	for i := range t.Files {
		n += t.Files[i].Size
	}
	return n
}
