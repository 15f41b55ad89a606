package parquetreader

import (
	"io"
	"reflect"
	"unsafe"
)

// A Reader reads the rows of a file into values of a Go type whose fields have parquet tags, as package tables defines
// them. It reads only the columns that the type has. It is not safe for concurrent use.
type Reader[T any] struct {
	b      *batcher
	fields []field
}

// NewReader returns a reader of all rows of a file. T is a struct. Its fields are matched with columns by name: a
// column that the file lacks leaves the field zero, and NULL is the zero value or nil. Fields can be int32, int64,
// bool, float64, string, []byte, pointers to the numbers, slices of these or of structs of these, and
// map[string]string. The error wraps ntconv.ErrUnsupported and names both types if a column has another type than the
// field. Reading costs memory within the Limits of the file.
func NewReader[T any](f *File) (*Reader[T], error) {
	b := newBatcher(f, nil)
	fields, err := bind(reflect.TypeFor[T](), b)
	if err != nil {
		return nil, err
	}
	return &Reader[T]{b: b, fields: fields}, nil
}

// Read reads up to len(rows) rows. It returns their number, which is len(rows) before the end of the file, and io.EOF
// with the last row or after it. All that rows hold belongs to the caller: strings and byte slices are never
// overwritten. Values of a page share memory, so byte slices must not be changed, and a string that is kept for long
// keeps its page: clone it. Another error wraps ntconv.ErrCorrupt, ErrTruncated, ErrLimit or ErrUnsupported, or is that
// of the input, and the next call returns it again.
func (r *Reader[T]) Read(rows []T) (int, error) {
	done := 0
	clear(rows)
	for done < len(rows) {
		n, err := r.b.next(len(rows) - done)
		if err != nil {
			return done, err
		}
		base := unsafe.Pointer(&rows[done])
		for _, f := range r.fields {
			if r.b.err = f.set(base, unsafe.Sizeof(rows[0]), n); r.b.err != nil {
				clear(rows[done:])
				return done, r.b.err
			}
		}
		done += n
	}
	return done, nil
}

// Close releases the buffers of the reader.
func (r *Reader[T]) Close() error {
	r.b.close()
	return nil
}

var _ io.Closer = (*Reader[struct{}])(nil)
