// Package iceberg publishes datasets as tables of Apache Iceberg. Register joins its catalogs to package catalog:
//
//	/warehouse/dir, hadoop:/warehouse/dir   a directory, without any server
//	sqlite:/path/catalog.db                 a file with a database
//	postgres://HOST/DATABASE                a PostgreSQL server
//	rest+https://HOST/PATH                  a REST catalog
//	glue:                                   AWS Glue
//	iceberg:NAME                            a catalog of the file .iceberg-go.yaml
//
// The Parquet files of a dataset stay where they are and as they are. Tables refer to them by their location, and read their columns
// by name, because the files have no field IDs.
//
// # State
//
// A table is brought from the files that it has to those that the dataset has. Names of files are never used twice, so the set of
// names is the state, and a run that finds it does nothing. Each snapshot that ntconv makes has a hash of the set in its summary
// (stateKey), so that the manifests need not be read to find that nothing has changed.
//
// A commit requires that no other run has changed the table since it was loaded. The state of the dataset is read after the tables
// have been loaded: what another run has committed before is therefore older than this state.
package iceberg
