package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	flagCatalog         = "catalog"
	flagCatalogProperty = "catalog-property"
	flagNamespace       = "namespace"
	flagExpire          = "expire-snapshots"
)

// A publication is a request to publish a dataset in a catalog.
type publication struct {
	catalog    string // its address
	namespace  string
	properties []string // KEY=VALUE
	tables     []string // nil for all
	expire     string   // age of snapshots, "" to keep all
	asJSON     bool
}

func (a *app) datasetPublishCmd() *cobra.Command {
	var p publication
	cmd := &cobra.Command{
		Use:   "publish DIR --catalog ADDRESS --namespace NAME",
		Short: "Publish a dataset as tables of Apache Iceberg",
		Long: "Publish a dataset as tables of Apache Iceberg in a namespace of a catalog. The tables refer to the files of the dataset, which stay\n" +
			"where they are. A run adds the files that a table lacks and removes those that the dataset no longer has, by one commit per table;\n" +
			"if nothing has changed, it does nothing. Run it after each run that adds, removes or joins. The catalog is a directory, or an address:\n" +
			"sqlite:FILE, postgres://HOST/DATABASE, rest+https://HOST/PATH, glue: or iceberg:NAME. Only the program ntconv-fleet has catalogs.",
		Example: examples(
			"in a directory, without a server", "ntconv dataset publish warehouse --catalog /data/lake --namespace traces",
			"in a REST catalog, every night",
			"ntconv dataset publish warehouse --catalog rest+https://catalog.example/api --namespace traces --expire-snapshots 30d",
		),
		Args:              oneDataset,
		ValidArgsFunction: dirCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.publishDataset(&p, args[0]) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.StringVar(&p.catalog, flagCatalog, "", "directory or `address` of the catalog")
			flags.StringVar(&p.namespace, flagNamespace, "", "`name` of the namespace of the tables; it is created if necessary; A.B is in A")
			flags.StringArrayVar(&p.tables, "table", nil, "publish only this `table`; repeatable")
			flags.StringArrayVar(&p.properties, flagCatalogProperty, nil,
				"set a `KEY=VALUE` of the catalog, such as warehouse=s3://bucket/lake; repeatable")
			flags.StringVar(&p.expire, flagExpire, "", "then remove snapshots that are older than this `time`: 36h, 30d")
			flags.BoolVar(&p.asJSON, "json", false, "print a JSON object")
		})
		addGroup(cmd, groupReport, func(flags *pflag.FlagSet) {
			flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
		})
	})
}

// check checks the flags, and returns their values.
func (p *publication) check() (properties map[string]string, age time.Duration, err error) {
	switch {
	case p.catalog == "":
		return nil, 0, failf(exitUsage, "no --%s given: want the directory or the address of a catalog", flagCatalog)
	case p.namespace == "":
		return nil, 0, failf(exitUsage, "no --%s given: want the name of the namespace of the tables", flagNamespace)
	}
	for part := range strings.SplitSeq(p.namespace, ".") {
		if part == "" || strings.ContainsAny(part, "/\\ \t\n") {
			return nil, 0, failf(exitUsage, "--%s %s: want a name without spaces and slashes, or several joined by dots", flagNamespace, p.namespace)
		}
	}
	properties = make(map[string]string)
	for _, text := range p.properties {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, 0, failf(exitUsage, "--%s %s: want KEY=VALUE", flagCatalogProperty, text)
		}
		properties[key] = value
	}
	if p.expire != "" {
		if age, err = parseAge(p.expire); err != nil {
			return nil, 0, failf(exitUsage, "--%s %s: want a time such as 36h or 30d", flagExpire, p.expire)
		}
	}
	return properties, age, nil
}

// A published is the result of a publication, and the output of ntconv dataset publish --json.
type published struct {
	Catalog   string           `json:"catalog"`
	Namespace string           `json:"namespace"`
	Tables    []catalog.Result `json:"tables"`
}

// publishDataset publishes a dataset and prints the result. If it fails, it prints the tables that were published before.
func (a *app) publishDataset(p *publication, dir string) error {
	properties, age, err := p.check()
	if err != nil {
		return err
	}
	set, err := openDataset(dir)
	if err != nil {
		return err
	}
	if err := set.Recover(); err != nil {
		return fail(exitOutput, err)
	}
	if err := p.checkTables(set); err != nil {
		return err
	}
	ctx := context.Background()
	c, err := catalog.Open(ctx, p.catalog, properties)
	if err != nil {
		return catalogFailure(err)
	}
	result := &published{Catalog: p.catalog, Namespace: p.namespace, Tables: []catalog.Result{}}
	var done atomic.Int64
	stop := a.datasetProgress("publishing", set, &done)
	failed := p.run(ctx, c, set, age, result, &done)
	stop()
	if err := c.Close(); failed == nil && err != nil {
		failed = fail(exitOutput, err)
	}
	if err := a.show(p.text(result)); err != nil {
		return err
	}
	return failed
}

// checkTables checks that the dataset has the tables that --table names.
func (p *publication) checkTables(set *dataset.Dataset) error {
	s, err := catalog.Of(set)
	if err != nil {
		return fail(exitInput, verifyFirst(set, err))
	}
	if missing := s.Select(p.tables); len(missing) > 0 {
		return failf(exitEmpty, "%s: no table %s", set.Dir(), strings.Join(missing, ", "))
	}
	return nil
}

// run publishes, and then expires snapshots. It adds the bytes of the files of published tables to done.
func (p *publication) run(ctx context.Context, c catalog.Catalog, set *dataset.Dataset, age time.Duration, result *published, done *atomic.Int64) error {
	run, err := set.Publication(c.Address(), p.namespace)
	if err != nil {
		return fail(exitInput, err)
	}
	var state *catalog.State
	read := func() (*catalog.State, error) {
		s, err := pinnedState(set, run)
		if err == nil {
			s.Select(p.tables)
			state = s
		}
		return s, err
	}
	err = c.Publish(ctx, p.namespace, read, func(r catalog.Result) {
		result.Tables = append(result.Tables, r)
		if t := state.Table(r.Table); t != nil {
			done.Add(t.Bytes())
		}
	})
	if err != nil {
		return catalogFailure(err)
	}
	if len(p.tables) == 0 { // else the other tables may refer to older files
		if err := run.Release(); err != nil {
			return fail(exitOutput, err)
		}
	}
	if p.expire == "" {
		return nil
	}
	var names []string
	for i := range result.Tables {
		names = append(names, result.Tables[i].Table)
	}
	err = c.Expire(ctx, p.namespace, names, age, func(r catalog.Result) {
		i := slices.IndexFunc(result.Tables, func(t catalog.Result) bool { return t.Table == r.Table })
		result.Tables[i].Expired = r.Expired
	})
	if err != nil {
		return catalogFailure(err)
	}
	return nil
}

// pinnedState reads the state of a dataset, whose files stay for the catalog from then on.
func pinnedState(set *dataset.Dataset, run *dataset.Publication) (*catalog.State, error) {
	for {
		s, err := catalog.Of(set)
		if err != nil {
			return nil, fail(exitInput, verifyFirst(set, err))
		}
		added, err := run.Pin(s.Commits)
		if err != nil {
			return nil, fail(exitOutput, err)
		}
		if !added {
			return s, nil
		}
	}
}

// catalogFailure returns the failure for an error of a catalog, with the next step.
func catalogFailure(err error) error {
	var f *failure
	switch {
	case errors.As(err, &f):
		return fail(f.code, err)
	case errors.Is(err, catalog.ErrNone):
		return failf(exitUsage, "%w; ntconv-fleet has them: build it in a checkout of ntconv with make fleet, and run bin/ntconv-fleet dataset publish", err)
	case errors.Is(err, catalog.ErrAddress):
		return fail(exitUsage, err)
	}
	return fail(exitOutput, err)
}

// text returns what the command prints.
func (p *publication) text(result *published) string {
	var b bytes.Buffer
	if p.asJSON {
		_ = writeJSON(&b, result) // strings and numbers, into memory
		return b.String()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	created, changed, files, header := 0, 0, 0, false
	var rows int64
	for i := range result.Tables {
		r := &result.Tables[i]
		files, rows = files+r.Files, rows+r.Rows
		if r.Created {
			created++
		}
		if r.Added+r.Removed+r.Expired == 0 && (r.Columns == 0 || r.Created) {
			continue
		}
		if changed++; !header {
			header = true
			fmt.Fprintln(w, "TABLE\tADDED\tREMOVED\tCOLUMNS\tEXPIRED\tFILES\tROWS")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Table, message.Group(int64(r.Added)), message.Group(int64(r.Removed)),
			message.Group(int64(r.Columns)), message.Group(int64(r.Expired)), message.Group(int64(r.Files)), message.Group(r.Rows))
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "%s in namespace %s: %s changed, %s created; %s, %s\n", message.Count(int64(len(result.Tables)), "table"),
		message.Line(result.Namespace), message.Group(int64(changed)), message.Group(int64(created)),
		message.Count(int64(files), "file"), message.Count(rows, "row"))
	return b.String()
}
