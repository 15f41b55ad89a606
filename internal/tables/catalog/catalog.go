// Package catalog publishes datasets as tables of catalogs, such as those of Apache Iceberg, from which query engines know which files
// belong to a table.
//
// The package has the interface only. Implementations need large libraries, so they are in the module fleet, and register their
// opener, as drivers of database/sql do.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Catalog is an open catalog. Its methods are not safe for concurrent use; several processes may publish to one catalog.
type Catalog interface {
	// Publish brings the tables of a namespace to the state of a dataset: it creates the tables and columns that are missing, adds
	// the files that a table lacks, and removes those that the dataset does not have. Each table changes by one commit. A run that
	// ended early leaves whole tables, and the next run does the rest.
	//
	// Publish calls read after it has loaded the tables, and again after a conflict with another run, so that it never replaces a
	// newer state by an older one. It calls done for each table. Errors wrap ErrForeign or ErrChanged where these apply.
	Publish(ctx context.Context, namespace string, read func() (*State, error), done func(Result)) error

	// Expire removes the snapshots of tables that were made longer ago than age, except for the current one, and the metadata
	// files that only they need. It never removes files of the dataset. It calls done for each table. Tables that the catalog does
	// not have are skipped.
	Expire(ctx context.Context, namespace string, tables []string, age time.Duration, done func(Result)) error

	// Address returns an address that is the same for every run on the catalog, and has no secrets.
	Address() string

	// Close releases the connections of the catalog.
	Close() error
}

// A Result is what Publish or Expire did to a table.
type Result struct {
	Table    string `json:"table"`
	Created  bool   `json:"created"`            // the catalog did not have the table
	Columns  int    `json:"columns_added"`      // columns that the table lacked
	Added    int    `json:"files_added"`        // files of the dataset that the table lacked
	Removed  int    `json:"files_removed"`      // files that the dataset does not have
	Files    int    `json:"files"`              // files of the table now
	Rows     int64  `json:"rows"`               // rows of these files
	Snapshot int64  `json:"snapshot,omitempty"` // ID of the new snapshot, 0 if there is none
	Expired  int    `json:"snapshots_expired"`  // snapshots that were removed
}

var (
	// ErrForeign means that a table of the namespace does not belong to the dataset.
	ErrForeign = errors.New("not a table of this dataset")

	// ErrChanged means that another run has removed files of the dataset while Publish read them.
	ErrChanged = errors.New("another run has changed the dataset")

	// ErrNone means that the program has no catalogs.
	ErrNone = errors.New("this program has no catalogs")

	// ErrAddress means that the address of a catalog is malformed, or that no catalog has its scheme.
	ErrAddress = errors.New("invalid address of a catalog")
)

// An Opener opens the catalog of an address, which includes the scheme. The properties are those of the catalog's library.
type Opener func(ctx context.Context, address string, properties map[string]string) (Catalog, error)

var (
	mu      sync.Mutex
	openers = make(map[string]Opener)
)

// Register makes an Opener known for a scheme, such as "sqlite" for sqlite:/path/catalog.db. The scheme "" is that of plain paths.
// It panics if the scheme is registered twice, because that is a bug in the program.
func Register(scheme string, open Opener) {
	mu.Lock()
	defer mu.Unlock()
	if openers[scheme] != nil {
		panic("catalog: scheme " + scheme + " is registered twice")
	}
	openers[scheme] = open
}

// Schemes returns the registered schemes, sorted. It is empty if the program has no catalogs.
func Schemes() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Keys(openers))
}

// Open opens the catalog of an address. The error wraps ErrNone if no scheme is registered, and ErrAddress if that of the address is
// not.
func Open(ctx context.Context, address string, properties map[string]string) (Catalog, error) {
	schemes := Schemes()
	if len(schemes) == 0 {
		return nil, ErrNone
	}
	scheme := schemeOf(address)
	mu.Lock()
	open := openers[scheme]
	mu.Unlock()
	if open == nil || address == "" {
		return nil, fmt.Errorf("%w: %q: want a directory, or an address with one of the schemes %s", ErrAddress, address,
			strings.Join(slices.DeleteFunc(schemes, func(s string) bool { return s == "" }), ", "))
	}
	return open(ctx, address, properties)
}

// schemeOf returns the scheme of an address, and "" for a path. A scheme has at least two letters: C: is a drive.
func schemeOf(address string) string {
	scheme, _, ok := strings.Cut(address, ":")
	if !ok || len(scheme) < 2 || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" {
		return ""
	}
	return scheme
}
