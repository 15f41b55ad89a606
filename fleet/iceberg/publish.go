package iceberg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
)

// A lake is a catalog of iceberg-go.
type lake struct {
	cat   icecatalog.Catalog
	props iceberg.Properties  // which also describe the file systems of data files, such as s3.endpoint
	shown string              // its address, for messages
	key   string              // see Address
	wait  func(time.Duration) // before another attempt
	fault func(string) error  // called before each table, and before each commit; only tests set it
}

// maxAttempts is how often a table is loaded again after another run has changed it.
const maxAttempts = 10

// Address implements catalog.Catalog.
func (l *lake) Address() string { return l.key }

// Close implements catalog.Catalog.
func (l *lake) Close() error {
	if c, ok := l.cat.(icecatalog.Closer); ok {
		return c.Close()
	}
	return nil
}

// step is called where tests end a run.
func (l *lake) step(at string) error {
	if l.fault == nil {
		return nil
	}
	return l.fault(at)
}

// Publish implements catalog.Catalog.
func (l *lake) Publish(ctx context.Context, namespace string, read func() (*catalog.State, error), done func(catalog.Result)) error {
	r := &run{lake: l, ns: strings.Split(namespace, "."), read: read}
	if err := r.createNamespace(ctx); err != nil {
		return fmt.Errorf("%s: namespace %s: %w", l.shown, namespace, err)
	}
	if err := r.load(ctx); err != nil {
		return fmt.Errorf("%s: namespace %s: %w", l.shown, namespace, err)
	}
	for _, name := range r.names() {
		err := l.step("table " + name)
		if err == nil {
			var result catalog.Result
			if result, err = r.publish(ctx, name); err == nil {
				done(result)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: table %s.%s: %w", l.shown, namespace, name, err)
		}
	}
	return nil
}

// A run is one call of Publish.
type run struct {
	*lake
	ns     table.Identifier
	read   func() (*catalog.State, error)
	state  *catalog.State
	loaded map[string]*table.Table
	extra  []string // tables of the dataset in the namespace that the state does not have: all their files were removed
}

// createNamespace creates the namespace, and those that it is in.
func (r *run) createNamespace(ctx context.Context) error {
	for i := range r.ns {
		exists, err := r.cat.CheckNamespaceExists(ctx, r.ns[:i+1])
		if err == nil && !exists {
			err = r.cat.CreateNamespace(ctx, r.ns[:i+1], iceberg.Properties{})
		}
		if err != nil && !errors.Is(err, icecatalog.ErrNamespaceAlreadyExists) {
			return err
		}
	}
	return nil
}

// load loads the tables, and then reads the state of the dataset: the order is what makes it newer than that of any commit that the
// tables have.
func (r *run) load(ctx context.Context) error {
	before, err := r.read()
	if err != nil {
		return err
	}
	r.loaded = make(map[string]*table.Table)
	for ident, err := range r.cat.ListTables(ctx, r.ns) {
		if err != nil {
			return err
		}
		name := ident[len(ident)-1]
		known := before.Table(name) != nil
		if !known && before.Partial {
			continue
		}
		t, err := r.cat.LoadTable(ctx, r.ident(name))
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		if known || t.Properties()[datasetKey] == before.Dataset {
			r.loaded[name] = t
		}
		if !known && r.loaded[name] != nil {
			r.extra = append(r.extra, name)
		}
	}
	r.state, err = r.read()
	return err
}

// names returns the names of all tables, in the order in which they are published.
func (r *run) names() []string {
	list := append([]string(nil), r.extra...)
	for i := range r.state.Tables {
		list = append(list, r.state.Tables[i].Name)
	}
	return list
}

func (r *run) ident(name string) table.Identifier {
	return append(append(table.Identifier(nil), r.ns...), name)
}

// publish brings one table to the state of the dataset. If another run has changed the table or the dataset in the meantime, it loads
// the table, reads the state, and tries again.
func (r *run) publish(ctx context.Context, name string) (catalog.Result, error) {
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			r.wait(backoff(attempt))
		}
		var result catalog.Result
		if result, err = r.attempt(ctx, name); err == nil {
			return result, nil
		}
		// A commit that is refused although the table has not changed yet is that of a directory, in which another run commits now, or
		// was killed there: its claim ends after a minute.
		again := errors.Is(err, catalog.ErrChanged) || errors.Is(err, table.ErrCommitFailed)
		if moved, loadErr := r.reload(ctx, name); loadErr != nil {
			return catalog.Result{}, errors.Join(err, loadErr)
		} else if !moved && !again || ctx.Err() != nil {
			return catalog.Result{}, err
		}
		state, readErr := r.read()
		if readErr != nil {
			return catalog.Result{}, readErr
		}
		r.state = state
	}
	return catalog.Result{}, fmt.Errorf("%d attempts conflicted with other runs; try again in a minute: %w", maxAttempts, err)
}

// reload loads a table again, and reports whether it has changed. A catalog reports a conflict in many ways; that the table is another
// one than before is certain. So is that of a commit whose outcome the catalog did not report.
func (r *run) reload(ctx context.Context, name string) (moved bool, err error) {
	old := r.loaded[name]
	t, err := r.cat.LoadTable(ctx, r.ident(name))
	if errors.Is(err, icecatalog.ErrNoSuchTable) {
		delete(r.loaded, name)
		return old != nil, nil
	}
	if err != nil {
		return false, err
	}
	r.loaded[name] = t
	return old == nil || old.MetadataLocation() != t.MetadataLocation(), nil
}

// backoff returns a random time before an attempt, longer for each: at most two seconds.
func backoff(attempt int) time.Duration {
	most := min(50*time.Millisecond<<attempt, 2*time.Second)
	return most/2 + rand.N(most/2)
}
