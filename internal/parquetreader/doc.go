// Package parquetreader reads Parquet files that anyone may have made.
//
// A file that is damaged or made to hurt costs an error within Limits, with the place of the fault: no panic, no
// endless loop, and no more memory than its bytes justify. Values are decoded when they are asked for, and no count or
// size in a file is believed before there are bytes for it. That is why the decoders are those of this package:
// parquet-go, which writes the files, allocates by such counts, and memory that is exhausted ends a program without a
// panic to recover from.
//
// The order to read is file.go, footer.go, page.go and columnreader.go, then reader.go, field.go and bind.go for rows
// of a Go type, or columnsreader.go for any columns.
package parquetreader
