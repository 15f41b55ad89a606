// Package parquetreader reads Parquet files of any origin, including corrupt and adversarial ones.
//
// A malformed file causes an error with its position: no panic, no endless loop, and no more memory than Limits allow.
// The reader decodes values when they are requested, and does not allocate memory by a count or size in the file before
// it has seen enough bytes for it. Therefore the package has its own decoders: parquet-go, which writes the files,
// allocates by such counts, and Go cannot recover from exhausted memory.
//
// To read the code, start with file.go, footer.go, page.go and columnreader.go, then reader.go, field.go and bind.go
// for rows of a Go type, or columnsreader.go for columns of any file.
package parquetreader
