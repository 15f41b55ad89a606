package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
)

// Expire implements catalog.Catalog.
func (l *lake) Expire(ctx context.Context, namespace string, tables []string, age time.Duration, done func(catalog.Result)) error {
	r := &run{lake: l, ns: strings.Split(namespace, "."), loaded: make(map[string]*table.Table)}
	for _, name := range tables {
		n, err := r.expire(ctx, name, age)
		if err != nil {
			return fmt.Errorf("%s: table %s.%s: expire snapshots: %w", l.shown, namespace, name, err)
		}
		done(catalog.Result{Table: name, Expired: n})
	}
	return nil
}

// expire removes the old snapshots of a table, and returns how many there were.
func (r *run) expire(ctx context.Context, name string, age time.Duration) (int, error) {
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			r.wait(backoff(attempt))
		}
		t, loadErr := r.cat.LoadTable(ctx, r.ident(name))
		if errors.Is(loadErr, icecatalog.ErrNoSuchTable) {
			return 0, nil
		}
		if loadErr != nil {
			return 0, errors.Join(err, loadErr)
		}
		r.loaded[name] = t
		var n int
		if n, err = expireTable(ctx, t, age); err == nil {
			return n, nil
		}
		if moved, loadErr := r.reload(ctx, name); loadErr != nil || !moved {
			return 0, errors.Join(err, loadErr)
		}
	}
	return 0, err
}

// expireTable commits the removal of snapshots, and then removes the manifests that only they need. The library would also remove data
// files that no snapshot needs, but these are the dataset's.
func expireTable(ctx context.Context, t *table.Table, age time.Duration) (int, error) {
	tx := t.NewTransaction()
	// The library refuses to expire snapshots of a table whose files are not its own; it gets no chance to remove any.
	err := tx.SetProperties(iceberg.Properties{table.GCEnabledKey: "true"})
	if err == nil {
		err = tx.ExpireSnapshots(table.WithOlderThan(age), table.WithRetainLast(1), table.WithPostCommit(false))
	}
	if err == nil {
		err = tx.SetProperties(iceberg.Properties{table.GCEnabledKey: "false"})
	}
	if err != nil {
		return 0, err
	}
	staged, err := tx.StagedTable()
	if err != nil {
		return 0, err
	}
	kept := make(map[int64]bool)
	for _, s := range staged.Metadata().Snapshots() {
		kept[s.SnapshotID] = true
	}
	var gone []table.Snapshot
	for _, s := range t.Metadata().Snapshots() {
		if !kept[s.SnapshotID] {
			gone = append(gone, s)
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	files, err := t.FS(ctx)
	if err != nil {
		return 0, err
	}
	after, err := tx.Commit(ctx)
	if err != nil {
		return 0, err
	}
	return len(gone), removeManifests(files, gone, after.Metadata().Snapshots())
}

// removeManifests removes the lists of manifests of removed snapshots, and the manifests that no other snapshot has.
func removeManifests(files iceio.IO, gone, kept []table.Snapshot) error {
	needed := make(map[string]bool)
	for i := range kept {
		manifests, err := kept[i].Manifests(files)
		if err != nil {
			return err
		}
		for _, m := range manifests {
			needed[m.FilePath()] = true
		}
	}
	unneeded := make(map[string]bool)
	for i := range gone {
		manifests, err := gone[i].Manifests(files)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another program has removed them
		}
		if err != nil {
			return err
		}
		unneeded[gone[i].ManifestList] = true
		for _, m := range manifests {
			if !needed[m.FilePath()] {
				unneeded[m.FilePath()] = true
			}
		}
	}
	var errs []error
	for name := range unneeded {
		if err := files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
