package parquetreader

import (
	"io"
	"reflect"
	"unsafe"
)

// A Reader reads the rows of a file as values of type T, a struct whose fields have parquet tags like those of package
// tables. It reads only the columns of T. A Reader is not safe for concurrent use.
type Reader[T any] struct {
	b      *batcher
	fields []field
}

// NewReader returns a reader of all rows of f. T must be a struct. Its fields are matched with columns by name: a
// column that the file lacks leaves the field zero, and NULL becomes the zero value or nil. Fields can be int32, int64,
// bool, float64, string, []byte, pointers to the numbers, slices of these or of structs of these, and
// map[string]string. If a column and its field have different types, the error wraps ntconv.ErrUnsupported and states
// both types. The reader uses memory within the Limits of the file.
func NewReader[T any](f *File) (*Reader[T], error) {
	b := newBatcher(f, nil)
	fields, err := bind(reflect.TypeFor[T](), b)
	if err != nil {
		return nil, err
	}
	return &Reader[T]{b: b, fields: fields}, nil
}

// Read reads up to len(rows) rows and returns their number, which is less than len(rows) only at the end of the file.
// It returns io.EOF with the last row or after it. The caller owns rows and everything in them: strings and byte slices
// are never overwritten. Values of a page share memory, so byte slices must not be changed, and a retained string
// retains its page; clone it to keep it for long. Other errors wrap ntconv.ErrCorrupt, ErrTruncated, ErrLimit or
// ErrUnsupported, or are those of the input. After an error, Read returns the same error again.
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
