package iceberg

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
)

const (
	// datasetKey is the property of a table with the identity of its dataset.
	datasetKey = "ntconv.dataset"
	// stateKey is the key in the summary of a snapshot with the hash of its files, see catalog.Table.Hash.
	stateKey = "ntconv.state"
)

// propertiesOf returns the properties of a new table.
func (r *run) propertiesOf() iceberg.Properties {
	p := iceberg.Properties{
		datasetKey:                r.state.Dataset,
		"ntconv.dataset.location": r.state.Dir,
		// The files belong to the dataset: no program may remove them when it expires snapshots or drops the table.
		table.GCEnabledKey: "false",
		// Every commit makes a manifest and a metadata file.
		table.ManifestMergeEnabledKey:             "true",
		table.MetadataDeleteAfterCommitEnabledKey: "true",
		table.MetadataPreviousVersionsMaxKey:      "20",
	}
	for _, key := range r.state.Keys {
		p[table.MetricsModeColumnConfPrefix+"."+string(key)] = "full" // checkConstant compares whole values
	}
	return p
}

// attempt brings a table to the state of the dataset, if no other run changes it meanwhile.
func (r *run) attempt(ctx context.Context, name string) (catalog.Result, error) {
	want := r.state.Table(name)
	if want == nil {
		want = &catalog.Table{Name: name} // all its files were removed
	}
	result := catalog.Result{Table: name, Files: len(want.Files), Rows: want.Rows()}
	t := r.loaded[name]
	if t == nil {
		var err error
		if t, err = r.create(ctx, want); err != nil {
			return result, err
		}
		r.loaded[name], result.Created = t, true
	}
	if owner := t.Properties()[datasetKey]; owner != r.state.Dataset {
		return result, fmt.Errorf("%w: %s", catalog.ErrForeign, ownerText(t))
	}
	c := &change{run: r, from: t, want: want}
	err := c.plan(ctx)
	if err == nil {
		err = c.commit(ctx, &result)
	}
	return result, err
}

// ownerText describes the owner of a table.
func ownerText(t *table.Table) string {
	if t.Properties()[datasetKey] == "" {
		return "another program created it; choose another namespace"
	}
	return fmt.Sprintf("it has that of %s; choose another namespace, or drop the table", t.Properties()["ntconv.dataset.location"])
}

// create creates a table without files.
func (r *run) create(ctx context.Context, want *catalog.Table) (*table.Table, error) {
	files, err := r.files(ctx)
	if err != nil {
		return nil, err
	}
	schemas, err := schemasOf(want, want.Files, files, make(map[string]bool))
	if err != nil {
		return nil, err
	}
	if len(schemas) == 0 {
		return nil, fmt.Errorf("%w: it had files when its commits were read", catalog.ErrChanged)
	}
	return r.cat.CreateTable(ctx, r.ident(want.Name), schemas[0], icecatalog.WithPartitionSpec(specOf(schemas, r.state.Keys)),
		icecatalog.WithProperties(r.propertiesOf()))
}

// files returns the file system with the files of the dataset.
func (r *run) files(ctx context.Context) (iceio.IO, error) {
	for i := range r.state.Tables {
		if files := r.state.Tables[i].Files; len(files) > 0 {
			return iceio.LoadFS(ctx, r.props, files[0].Location)
		}
	}
	return iceio.LocalFS{}, nil
}

// A change is that of one table by one commit.
type change struct {
	*run
	from   *table.Table
	want   *catalog.Table
	add    []catalog.File
	remove []iceberg.DataFile
}

// plan determines which files are added and removed.
func (c *change) plan(ctx context.Context) error {
	s := c.from.CurrentSnapshot()
	if s != nil && s.Summary != nil && s.Summary.Properties[stateKey] == c.want.Hash() {
		return nil
	}
	fs, err := c.from.FS(ctx)
	if err != nil {
		return err
	}
	has, err := liveFiles(s, fs)
	if err != nil {
		return err
	}
	for i := range c.want.Files {
		f := &c.want.Files[i]
		if has[f.Location] == nil {
			c.add = append(c.add, *f)
		}
		delete(has, f.Location)
	}
	for _, f := range has {
		c.remove = append(c.remove, f)
	}
	return nil
}

// commit commits the change, unless there is none.
func (c *change) commit(ctx context.Context, result *catalog.Result) error {
	tx := c.from.NewTransaction()
	if err := tx.AssertRefSnapshotID(table.MainBranch); err != nil {
		return err
	}
	fs, err := c.files(ctx)
	if err != nil {
		return err
	}
	after, err := c.evolve(tx, fs)
	if err != nil {
		return err
	}
	result.Columns = len(after.Schema().Fields()) - len(c.from.Schema().Fields())
	same := after.Schema().ID == c.from.Schema().ID
	if same && len(c.add)+len(c.remove) == 0 {
		return nil
	}
	d := &describer{fs: fs, schema: after.Schema(), props: after.Properties(), spec: after.Spec(), keys: c.state.Keys}
	added, err := d.describe(ctx, c.add)
	if err != nil {
		return err
	}
	if len(c.add)+len(c.remove) > 0 {
		summary := iceberg.Properties{stateKey: c.want.Hash(), "ntconv.files": strconv.Itoa(len(c.want.Files))}
		if err := tx.ReplaceDataFilesWithDataFiles(ctx, c.remove, added, summary, table.WithoutDuplicateCheck()); err != nil {
			return err
		}
	}
	if err := c.step("commit " + c.want.Name); err != nil {
		return err
	}
	t, err := tx.Commit(ctx)
	if err != nil {
		return err
	}
	c.loaded[c.want.Name] = t
	result.Added, result.Removed = len(c.add), len(c.remove)
	if s := t.CurrentSnapshot(); s != nil && len(c.add)+len(c.remove) > 0 {
		result.Snapshot = s.SnapshotID
	}
	return nil
}

// evolve adds the columns that the table lacks, and returns the table after that. A column that may be NULL in one of the files, or
// that one of them lacks, may be NULL in the table.
func (c *change) evolve(tx *table.Transaction, fs iceio.IO) (*table.StagedTable, error) {
	schemas, err := schemasOf(c.want, c.add, fs, make(map[string]bool))
	if err != nil {
		return nil, err
	}
	t, err := tx.StagedTable()
	for _, s := range schemas {
		if err != nil {
			return nil, err
		}
		update := tx.UpdateSchema(true, false, table.WithNameMapping(t.NameMapping())).UnionByNameWith(s)
		for _, f := range t.Schema().Fields() {
			if _, ok := s.FindFieldByName(f.Name); f.Required && !ok {
				update.UpdateColumn([]string{f.Name}, table.ColumnUpdate{Required: iceberg.Optional[bool]{Valid: true}})
			}
		}
		if err = update.Commit(); err == nil {
			t, err = tx.StagedTable()
		}
	}
	return t, err
}
