package parquetreader

// Limits bound the resources for reading a file. Zero selects the default of a member. Exceeding a limit is an error
// that wraps ntconv.ErrLimit.
type Limits struct {
	// Footer is the maximum number of bytes of the footer. The default is 32 MiB.
	Footer int64
	// Columns is the maximum number of columns and groups. The default is 10,000.
	Columns int
	// RowGroups is the maximum number of row groups. The default is 32,767, the largest number that the format
	// supports.
	RowGroups int
	// Depth is the maximum number of groups around a column. The default is 32.
	Depth int
	// PageBytes is the maximum number of bytes of a page after decompression. The default is 256 MiB.
	PageBytes int64
	// PageValues is the maximum number of values of a page or dictionary, including NULL. The default is 16 Mi. The
	// size of the file does not bound it, because a run of equal values needs only a few bytes.
	PageValues int64
	// RowsPerByte is the maximum number of rows per byte of the file, beyond 16 Mi rows. It bounds the time that a
	// small file can demand. The default is 8,192.
	RowsPerByte int64
	// Decoded is the maximum number of bytes that a reader holds at a time: for each of its columns a page, a
	// dictionary and a batch of values. The default is 1 GiB.
	Decoded int64
}

// Names of the limits in ntconv.LimitError.Limit: one per member of Limits, and LimitValues, which depends on the size
// of the column chunk.
const (
	LimitFooter     = "Parquet footer"
	LimitColumns    = "Parquet columns"
	LimitRowGroups  = "Parquet row groups"
	LimitDepth      = "Parquet nesting"
	LimitPageBytes  = "Parquet page"
	LimitPageValues = "values of a Parquet page"
	LimitValues     = "values of 256 rows of a Parquet list"
	LimitRows       = "Parquet rows"
	LimitDecoded    = "decoded Parquet pages"
)

// withDefaults returns the effective limits. l may be nil.
func (l *Limits) withDefaults() Limits {
	var c Limits
	if l != nil {
		c = *l
	}
	setDefault(&c.Footer, 32<<20)
	setDefault(&c.Columns, 10_000)
	setDefault(&c.RowGroups, 32_767)
	setDefault(&c.Depth, 32)
	setDefault(&c.PageBytes, 256<<20)
	setDefault(&c.PageValues, 16<<20)
	setDefault(&c.RowsPerByte, 8192)
	setDefault(&c.Decoded, 1<<30)
	return c
}

func setDefault[T int | int64](p *T, value T) {
	if *p == 0 {
		*p = value
	}
}
