package parquetwriter

import (
	"encoding/binary"
	"errors"
	"io"

	pqthrift "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
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
//
//	end of a file: footer, size of the footer in 4 bytes, "PAR1"
func (t *tail) writeUnsorted() error {
	const trailer = 8
	n := len(t.held)
	if n < trailer {
		return errors.New("parquet footer is missing")
	}
	size := int(binary.LittleEndian.Uint32(t.held[n-trailer:]))
	if size > n-trailer {
		return errors.New("parquet footer was not held back")
	}
	from := n - trailer - size
	var protocol pqthrift.CompactProtocol
	var meta format.FileMetaData
	if err := pqthrift.Unmarshal(&protocol, t.held[from:n-trailer], &meta); err != nil {
		return err
	}
	for i := range meta.RowGroups {
		meta.RowGroups[i].SortingColumns = nil
	}
	footer, err := pqthrift.Marshal(&protocol, &meta)
	if err != nil {
		return err
	}
	out := append(t.held[:from:from], footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	_, err = t.w.Write(append(out, "PAR1"...))
	return err
}
