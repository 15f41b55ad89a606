package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// bundledPrefix is that of the libraries in DuckDB's compiled library, in the list of modules.
const bundledPrefix = "duckdb/"

// A library is C or C++ code in the compiled library of DuckDB.
type library struct {
	name    string
	license string
	archive string // libNAME.a that has it
}

// duckdbLibraries are the libraries that DuckDB 1.5 bundles. Their licenses are those of its directories third_party and extension.
// Modules of Go do not have their texts.
var duckdbLibraries = []library{
	{"brotli", "MIT", "parquet_extension"},
	{"concurrentqueue", "BSD-2-Clause", "duckdb_static"},
	{"fast_float", "MIT", "duckdb_static"},
	{"FastPFor", "Apache-2.0", "duckdb_fastpforlib"},
	{"fmt", "MIT", "duckdb_fmt"},
	{"FSST", "MIT", "duckdb_fsst"},
	{"cpp-httplib", "MIT", "duckdb_static"},
	{"hyperloglog (Redis)", "BSD-3-Clause", "duckdb_hyperloglog"},
	{"ICU", "ICU", "icu_extension"},
	{"jaro_winkler", "MIT", "duckdb_static"},
	{"libpg_query (PostgreSQL)", "BSD-3-Clause, PostgreSQL", "duckdb_pg_query"},
	{"LZ4", "BSD-2-Clause", "parquet_extension"},
	{"Mbed TLS", "Apache-2.0", "duckdb_mbedtls"},
	{"miniz", "MIT", "duckdb_miniz"},
	{"nanoarrow", "Apache-2.0", "duckdb_static"},
	{"pdqsort", "Zlib", "duckdb_static"},
	{"RE2", "BSD-3-Clause", "duckdb_re2"},
	{"ska_sort", "BSL-1.0", "duckdb_static"},
	{"SkipList", "MIT", "duckdb_skiplistlib"},
	{"Snappy", "BSD-3-Clause", "parquet_extension"},
	{"Thrift", "Apache-2.0", "parquet_extension"},
	{"utf8proc", "MIT", "duckdb_utf8proc"},
	{"vergesort", "MIT", "duckdb_static"},
	{"yyjson", "MIT", "duckdb_yyjson"},
	{"Zstandard", "BSD-3-Clause", "duckdb_zstd"},
}

// ownArchives are the archives with DuckDB's own code only, or with what the generated loader of extensions does not use.
var ownArchives = []string{
	"autocomplete_extension", "core_functions_extension", "duckdb_generated_extension_loader", "json_extension",
	"tpcds_extension", "tpch_extension", "duckdb_jemalloc",
}

// platformOfModule matches the paths of the modules with DuckDB's compiled library, one per platform.
var platformOfModule = regexp.MustCompile(`^(github\.com/duckdb/duckdb-go-bindings/lib)/[a-z0-9]+-[a-z0-9]+$`)

// compiledDuckDB returns the modules with DuckDB's compiled library.
func compiledDuckDB(modules []*module) (list []*module) {
	for _, m := range modules {
		if platformOfModule.MatchString(m.path) {
			list = append(list, m)
		}
	}
	return list
}

// libraries returns the libraries in DuckDB's compiled library, none if no module has it. It is an error if that has archives which
// are in no list, as a later release may: then the lists must be brought up to date.
func libraries(modules []*module) ([]library, error) {
	known := slices.Clone(ownArchives)
	for _, l := range duckdbLibraries {
		known = append(known, l.archive)
	}
	var bad []error
	compiled := compiledDuckDB(modules)
	for _, m := range compiled {
		archives, err := filepath.Glob(filepath.Join(m.dir, "lib*.a"))
		if err != nil || len(archives) == 0 {
			return nil, fmt.Errorf("%s: it has no archives: %w", m.path, err)
		}
		for _, a := range archives {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(a), "lib"), ".a")
			if !slices.Contains(known, name) {
				bad = append(bad, fmt.Errorf("%s: unknown library %s", m.path, name))
			}
		}
	}
	if len(compiled) == 0 {
		return nil, nil
	}
	return duckdbLibraries, errors.Join(bad...)
}

var bindingsVersion = regexp.MustCompile(`^v0\.(\d+?)(\d\d)(\d\d)\.`)

// duckdbVersion returns the version of DuckDB, which that of the module contains: v0.10506.0 is 1.5.6.
func duckdbVersion(modules []*module) string {
	for _, m := range compiledDuckDB(modules) {
		if v := bindingsVersion.FindStringSubmatch(m.version); v != nil {
			return strings.Join([]string{v[1], strings.TrimLeft(v[2], "0"), strings.TrimLeft(v[3], "0")}, ".")
		}
	}
	return ""
}
