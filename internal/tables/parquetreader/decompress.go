package parquetreader

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
	"github.com/pierrec/lz4/v4"
)

// A compression is a CompressionCodec of parquet.thrift.
type compression int

const (
	uncompressed compression = 0
	codecSnappy  compression = 1
	codecGzip    compression = 2
	codecBrotli  compression = 4
	codecZstd    compression = 6
	codecLZ4     compression = 7 // LZ4_RAW
)

// String returns the name that the specification uses.
func (c compression) String() string {
	names := []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("codec %d", int(c))
	}
	return names[c]
}

// ratio returns the largest number of bytes that one compressed byte can decompress to, and a constant to add. The
// reader rejects a page whose stated size exceeds this bound before it allocates memory. The formats imply the numbers:
// a copy of 64 bytes takes 3 bytes in Snappy; a match of 258 bytes takes 2 bits in deflate; a byte adds 255 to a match
// in LZ4; a block of 128 KiB takes 4 bytes in zstd; a command of 16 MiB takes some bytes in Brotli.
func (c compression) ratio() (ratio, slack int64) {
	const slackBytes = 256
	switch c {
	case codecSnappy:
		return 24, slackBytes
	case codecGzip:
		return 1040, slackBytes
	case codecLZ4:
		return 256, slackBytes
	case codecZstd:
		return 32 << 10, slackBytes
	case codecBrotli:
		return 4 << 20, slackBytes
	}
	return 1, 0
}

// A decompressor decompresses pages. It reuses the state of codecs and is not safe for concurrent use.
type decompressor struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

// check returns an error if n compressed bytes cannot decompress to size bytes.
func (c compression) check(n, size int64) error {
	if ratio, slack := c.ratio(); size > n*ratio+slack {
		return fmt.Errorf("%w: a page of %d bytes cannot decompress to %d bytes with %v", ntconv.ErrCorrupt, n, size, c)
	}
	return nil
}

// checkFrame returns an error if the compressed bytes state a size that differs from the page header. This way a
// corrupt header causes no allocation.
func (c compression) checkFrame(src []byte, size int) error {
	stated := uint64(size)
	switch c {
	case codecSnappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return fmt.Errorf("%w: %v: %w", ntconv.ErrCorrupt, c, err)
		}
		stated = uint64(n)
	case codecZstd:
		var h zstd.Header
		if h.Decode(src) == nil && h.HasFCS {
			stated = h.FrameContentSize
		}
	}
	// zstd allows several frames in a row, which is unusual; then the first frame states a smaller size.
	if stated > uint64(size) || stated < uint64(size) && size > smallPage {
		return fmt.Errorf("%w: %v: the compressed bytes state a size of %d bytes, the page header states %d",
			ntconv.ErrCorrupt, c, stated, size)
	}
	return nil
}

// smallPage is the size in bytes up to which a page is allocated without this check.
const smallPage = 1 << 20

// decode decompresses src into dst. It returns an error unless the result has exactly len(dst) bytes.
func (d *decompressor) decode(c compression, dst, src []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			*d = decompressor{}
			err = fmt.Errorf("%w: %v: %v", ntconv.ErrCorrupt, c, p)
		}
	}()
	var n int
	switch c {
	case uncompressed:
		n = len(src)
		copy(dst, src)
	case codecSnappy:
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case codecGzip:
		n, err = d.decodeGzip(dst, src)
	case codecBrotli:
		if d.brotli == nil {
			d.brotli = new(brotli.Reader)
		}
		if err = d.brotli.Reset(bytes.NewReader(src)); err == nil {
			n, err = readExactly(d.brotli, dst)
		}
	case codecZstd:
		n, err = d.decodeZstd(dst, src)
	case codecLZ4:
		n, err = lz4.UncompressBlock(src, dst)
	default:
		return fmt.Errorf("%w: compression %v", ntconv.ErrUnsupported, c)
	}
	if err != nil {
		return fmt.Errorf("%w: %v: %w", ntconv.ErrCorrupt, c, err)
	}
	if n != len(dst) {
		return fmt.Errorf("%w: %v: page of %d bytes after decompression, want %d", ntconv.ErrCorrupt, c, n, len(dst))
	}
	return nil
}

func (d *decompressor) decodeGzip(dst, src []byte) (n int, err error) {
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	if err := d.gzip.Reset(bytes.NewReader(src)); err != nil {
		return 0, err
	}
	return readExactly(d.gzip, dst)
}

// readExactly fills dst. The count is len(dst)+1 if r has more bytes.
func readExactly(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return n, io.ErrUnexpectedEOF
	}
	if err != nil {
		return n, err
	}
	var more [1]byte
	k, err := io.ReadFull(r, more[:])
	if err == io.EOF {
		err = nil
	}
	return n + k, err
}

func (d *decompressor) decodeZstd(dst, src []byte) (int, error) {
	if d.zstd == nil {
		var err error
		// The capacity of dst bounds the output, regardless of the sizes that frames state.
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return 0, err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	return len(out), err
}
