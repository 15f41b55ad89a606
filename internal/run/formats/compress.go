package formats

import (
	"io"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// createCompressed creates the file of an output. w compresses if the name of the output ends with the extension of a
// compression. Call finish after the last write: it completes the compression and does not close the file.
func createCompressed(out *fileio.Outputs) (w io.Writer, finish func() error, err error) {
	member, err := out.Create("")
	if err != nil {
		return nil, nil, err
	}
	_, compression := CutCompression(out.Name())
	if compression == "" {
		return member, func() error { return nil }, nil
	}
	z, err := fileio.NewCompressor(member, compression)
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}
