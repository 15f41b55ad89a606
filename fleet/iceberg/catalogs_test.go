package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	icetable "github.com/apache/iceberg-go/table"
)

var errKilled = errors.New("killed")

// A place is a catalog of a test.
type place struct {
	address    string
	properties map[string]string
}

// args returns the flags of the command for the catalog.
func (p *place) args() []string {
	args := []string{"--catalog", p.address, "--namespace", "ns"}
	for key, value := range p.properties {
		args = append(args, "--catalog-property", key+"="+value)
	}
	return args
}

// directory returns a catalog that needs no server.
func directory(dir string) *place { return &place{address: filepath.Join(dir, "lake")} }

// catalogs returns the kinds of catalogs that run here, each with a function that makes a new one.
func catalogs(t *testing.T) map[string]func(t *testing.T, dir string) *place {
	t.Helper()
	kinds := map[string]func(t *testing.T, dir string) *place{
		"directory": func(_ *testing.T, dir string) *place { return directory(dir) },
		"sqlite": func(_ *testing.T, dir string) *place {
			return &place{address: "sqlite:" + filepath.Join(dir, "catalog.db")}
		},
		"rest": func(t *testing.T, dir string) *place {
			return &place{address: "rest+" + serveREST(t, filepath.Join(dir, "lake"))}
		},
		"glue": func(t *testing.T, dir string) *place {
			serveGlue(t)
			return &place{"glue:", map[string]string{warehouseKey: filepath.Join(dir, "lake")}}
		},
	}
	t.Setenv(tokenVariable, "secret") // for the fake REST catalog
	if server := startPostgres(t); server != "" {
		kinds["postgres"] = func(_ *testing.T, dir string) *place {
			return &place{server, map[string]string{nameKey: filepath.Base(dir), warehouseKey: dir}}
		}
	}
	return kinds
}

// serveREST starts a REST catalog with the endpoints that a publication needs, whose tables are those of a catalog in a directory. It
// wants the token "secret".
func serveREST(t *testing.T, dir string) (address string) {
	t.Helper()
	cat, err := hadoop.NewCatalog("rest", dir, iceberg.Properties{})
	must(t, err)
	mux := http.NewServeMux()
	handle := func(pattern string, f func(r *http.Request, ns icetable.Identifier) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			v, err := f(r, strings.Split(r.PathValue("ns"), "\x1f"))
			w.Header().Set("Content-Type", "application/json")
			switch {
			case errors.Is(err, icecatalog.ErrNoSuchNamespace), errors.Is(err, icecatalog.ErrNoSuchTable):
				w.WriteHeader(http.StatusNotFound)
			case err != nil:
				w.WriteHeader(http.StatusConflict)
				v = map[string]any{"error": map[string]any{"message": err.Error(), "type": "CommitFailedException", "code": 409}}
			}
			_ = json.NewEncoder(w).Encode(v)
		})
	}
	loaded := func(t *icetable.Table, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return map[string]any{"metadata-location": t.MetadataLocation(), "metadata": t.Metadata()}, nil
	}
	handle("GET /v1/config", func(*http.Request, icetable.Identifier) (any, error) {
		return map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}}, nil
	})
	handle("GET /v1/namespaces/{ns}", func(r *http.Request, ns icetable.Identifier) (any, error) {
		exists, err := cat.CheckNamespaceExists(r.Context(), ns)
		if err == nil && !exists {
			err = icecatalog.ErrNoSuchNamespace
		}
		return map[string]any{"namespace": ns, "properties": map[string]string{}}, err
	})
	handle("POST /v1/namespaces", func(r *http.Request, _ icetable.Identifier) (any, error) {
		var q struct{ Namespace icetable.Identifier }
		err := errors.Join(json.NewDecoder(r.Body).Decode(&q), cat.CreateNamespace(r.Context(), q.Namespace, nil))
		return q, err
	})
	handle("GET /v1/namespaces/{ns}/tables", func(r *http.Request, ns icetable.Identifier) (any, error) {
		list := []any{}
		for ident, err := range cat.ListTables(r.Context(), ns) {
			if err != nil {
				return nil, err
			}
			list = append(list, map[string]any{"namespace": ns, "name": ident[len(ident)-1]})
		}
		return map[string]any{"identifiers": list}, nil
	})
	handle("POST /v1/namespaces/{ns}/tables", func(r *http.Request, ns icetable.Identifier) (any, error) {
		var q struct {
			Name   string
			Schema *iceberg.Schema
			Spec   *iceberg.PartitionSpec `json:"partition-spec"`
			Props  iceberg.Properties     `json:"properties"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			return nil, err
		}
		return loaded(cat.CreateTable(r.Context(), append(ns, q.Name), q.Schema, icecatalog.WithPartitionSpec(q.Spec), icecatalog.WithProperties(q.Props)))
	})
	handle("GET /v1/namespaces/{ns}/tables/{table}", func(r *http.Request, ns icetable.Identifier) (any, error) {
		return loaded(cat.LoadTable(r.Context(), append(ns, r.PathValue("table"))))
	})
	handle("POST /v1/namespaces/{ns}/tables/{table}", func(r *http.Request, ns icetable.Identifier) (any, error) {
		var q struct {
			Requirements icetable.Requirements
			Updates      icetable.Updates
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			return nil, err
		}
		meta, location, err := cat.CommitTable(r.Context(), append(ns, r.PathValue("table")), q.Requirements, q.Updates)
		return map[string]any{"metadata-location": location, "metadata": meta}, err
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// tablesOf returns the metadata locations of the tables of the namespace ns, which change with each commit.
func tablesOf(t *testing.T, l *lake) map[string]string {
	t.Helper()
	locations := make(map[string]string)
	for ident, err := range l.cat.ListTables(context.Background(), icetable.Identifier{"ns"}) {
		must(t, err)
		name := ident[len(ident)-1]
		locations[name] = tableOf(t, l, name).MetadataLocation()
	}
	return locations
}
