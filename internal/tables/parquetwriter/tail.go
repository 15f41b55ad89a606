package parquetwriter

import (
	"bytes"
	"io"
)

// A tail buffers the end of the output, because the footer may have to change: parquet-go writes the sort order that
// was stated at the start, but only the end of the rows shows whether they are sorted.
type tail struct {
	w    io.Writer
	hold bool
	held []byte
}

func (t *tail) Write(b []byte) (int, error) {
	if t.hold {
		t.held = append(t.held, b...)
		return len(b), nil
	}
	return t.w.Write(b)
}

// writeUnsorted writes the buffered end of the file, with the sort order removed from the footer.
func (t *tail) writeUnsorted() error {
	meta, from, err := readFooter(bytes.NewReader(t.held), int64(len(t.held)))
	if err != nil {
		return err
	}
	for i := range meta.RowGroups {
		meta.RowGroups[i].SortingColumns = nil
	}
	out := &pageWriter{buf: t.held[:from:from]}
	out.footer(meta)
	if out.err == nil {
		_, out.err = t.w.Write(out.buf)
	}
	return out.err
}
