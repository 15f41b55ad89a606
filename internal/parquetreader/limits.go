package parquetreader

// Limits bound what the reading of a file may cost. A zero member stands for its default, so the zero value is usable.
type Limits struct {
	// Footer is the largest number of bytes of the footer. The default is 32 MiB.
	Footer int64
	// Columns is the largest number of columns, groups included. The default is 10,000.
	Columns int
	// RowGroups is the largest number of row groups. The default is 32,767, which is the largest number that the format
	// can count.
	RowGroups int
	// Depth is the largest number of groups around a column. The default is 32.
	Depth int
	// PageBytes is the largest number of bytes of a page, decompressed. The default is 256 MiB.
	PageBytes int64
	// PageValues is the largest number of values of a page or dictionary, nulls included. The default is 16 Mi: a run
	// of equal values takes a few bytes however long it is, so that the bytes of a file do not bound it.
	PageValues int64
	// RowsPerByte is the largest number of rows per byte of the file, beyond 16 Mi rows: work that a few bytes can ask
	// for. The default is 8,192.
	RowsPerByte int64
	// Decoded is the largest number of bytes that a reader takes at one time: a page, a dictionary, and a batch of
	// values of each column that it reads. The default is 1 GiB.
	Decoded int64
}

// Names of the limits in ntconv.LimitError.Limit, one per member of Limits, and LimitValues, which
// follows from the size of the column chunk.
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

// withDefaults returns the limits that are in effect. It accepts nil.
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
