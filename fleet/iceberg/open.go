package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue"   // registers the catalog
	_ "github.com/apache/iceberg-go/catalog/hadoop" // registers the catalog
	_ "github.com/apache/iceberg-go/catalog/rest"   // registers the catalog
	_ "github.com/apache/iceberg-go/catalog/sql"    // registers the catalog
	_ "github.com/apache/iceberg-go/io/gocloud"     // registers the file systems s3, gs, abfs
	_ "github.com/lib/pq"                           // registers the driver
	_ "modernc.org/sqlite"                          // registers the driver

	"github.com/ntconv/ntconv/internal/tables/catalog"
)

// Environment variables with secrets, which must not be in a command line.
const (
	tokenVariable      = "NTCONV_CATALOG_TOKEN"
	credentialVariable = "NTCONV_CATALOG_CREDENTIAL"
)

// Keys of properties of iceberg-go.
const (
	typeKey       = "type"
	uriKey        = "uri"
	warehouseKey  = "warehouse"
	nameKey       = "name" // of the catalog in its database; not a key of iceberg-go
	defaultName   = "default"
	driverKey     = "sql.driver"
	dialectKey    = "sql.dialect"
	tokenKey      = "token"
	credentialKey = "credential"
)

// Register joins the catalogs to the program. It must be called once.
func Register() {
	for scheme, prepare := range map[string]func(address string, p iceberg.Properties) error{
		"":           prepareHadoop,
		"hadoop":     prepareHadoop,
		"sqlite":     prepareSQLite,
		"postgres":   preparePostgres,
		"rest+https": prepareREST,
		"rest+http":  prepareREST,
		"glue":       prepareGlue,
		"iceberg":    prepareNamed,
	} {
		catalog.Register(scheme, func(ctx context.Context, address string, properties map[string]string) (catalog.Catalog, error) {
			return open(ctx, address, properties, prepare)
		})
	}
}

// open opens a catalog of iceberg-go. prepare sets the properties that follow from the address, unless the caller has set them.
func open(ctx context.Context, address string, properties map[string]string, prepare func(string, iceberg.Properties) error) (*lake, error) {
	p := make(iceberg.Properties)
	for key, variable := range map[string]string{tokenKey: tokenVariable, credentialKey: credentialVariable} {
		if value := os.Getenv(variable); value != "" {
			p[key] = value
		}
	}
	if err := prepare(address, p); err != nil {
		return nil, fmt.Errorf("%w: %w", catalog.ErrAddress, err)
	}
	maps.Copy(p, properties)
	name := p.Get(nameKey, defaultName)
	c, err := icecatalog.Load(ctx, name, p)
	if errors.Is(err, icecatalog.ErrCatalogNotFound) {
		return nil, fmt.Errorf("%w: %s: .iceberg-go.yaml in the home directory, or in GOICEBERG_HOME, has no catalog of this name with a known type", catalog.ErrAddress, shown(address))
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", shown(address), err)
	}
	return &lake{cat: c, props: p, shown: shown(address), key: addressOf(address, p), wait: time.Sleep}, nil
}

// addressOf returns the address of a catalog with what distinguishes it from others at the same place, and without what may differ
// from run to run: relative names and parameters of connections.
func addressOf(address string, p iceberg.Properties) string {
	kind := p[typeKey]
	at := cmp.Or(p[uriKey], p[warehouseKey])
	if kind == "" || at == "" {
		kind, at = "", shown(address) // its place is in a configuration file, or follows from the account
	}
	at, _, _ = strings.Cut(shown(at), "?")
	for _, more := range []struct{ kind, key string }{{"sql", nameKey}, {"rest", warehouseKey}} {
		if kind == more.kind && p[more.key] != "" {
			at += ", " + more.key + " " + p[more.key]
		}
	}
	return at
}

// shown returns an address without its user and password.
func shown(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + rest
}

// prepareHadoop sets the properties for a directory.
func prepareHadoop(address string, p iceberg.Properties) error {
	dir := strings.TrimPrefix(address, "hadoop:")
	if dir == "" {
		return errors.New("hadoop: has no directory: want hadoop:/warehouse/dir")
	}
	if strings.Contains(dir, "://") && !strings.HasPrefix(dir, "file://") {
		return fmt.Errorf("%s: a directory of tables needs renames that object stores do not have; name a catalog: sqlite, postgres, rest+https or glue, and the directory by --catalog-property %s=%s",
			dir, warehouseKey, dir)
	}
	abs, err := filepath.Abs(strings.TrimPrefix(dir, "file://"))
	p[typeKey], p[warehouseKey] = "hadoop", abs
	return err
}

// prepareSQLite sets the properties for a file with a database. Its tables are in the directory of the file.
func prepareSQLite(address string, p iceberg.Properties) error {
	name := strings.TrimPrefix(strings.TrimPrefix(address, "sqlite:"), "//")
	if name == "" {
		return errors.New("sqlite: has no file: want sqlite:/path/catalog.db")
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	p[typeKey], p[driverKey], p[dialectKey] = "sql", "sqlite", "sqlite"
	p[uriKey] = "file:" + abs + "?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_txlock=immediate"
	p[warehouseKey] = filepath.Dir(abs)
	return nil
}

// preparePostgres sets the properties for a PostgreSQL server. libpq's environment variables such as PGPASSWORD apply.
func preparePostgres(address string, p iceberg.Properties) error {
	p[typeKey], p[driverKey], p[dialectKey], p[uriKey] = "sql", "postgres", "postgres", address
	return nil
}

// prepareREST sets the properties for a REST catalog.
func prepareREST(address string, p iceberg.Properties) error {
	p[typeKey], p[uriKey] = "rest", strings.TrimPrefix(address, "rest+")
	return nil
}

// prepareGlue sets the properties for AWS Glue, whose region and credentials are those of the AWS SDK.
func prepareGlue(_ string, p iceberg.Properties) error {
	p[typeKey] = "glue"
	return nil
}

// prepareNamed sets the properties for a catalog of the configuration file of iceberg-go, which adds the rest.
func prepareNamed(address string, p iceberg.Properties) error {
	name := strings.TrimPrefix(address, "iceberg:")
	if name == "" {
		return errors.New("iceberg: has no name: want iceberg:NAME")
	}
	p[nameKey] = name
	return nil
}
