package parquetfile

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	pqzstd "github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// codecWindow is the window of the compression in bytes. It is larger than most pages, and a quarter of the default, which costs a small
// file more time to clear than the compression takes.
const codecWindow = 1 << 20

// A codec compresses pages with zstd at its fastest level. It is safe for concurrent use.
type codec struct {
	encoders sync.Pool
	pqzstd.Codec
}

var _ compress.Codec = (*codec)(nil)

// sharedCodec has a pool of encoders. Files share it: an encoder has a megabyte of buffers, and a trace may have thousands of small files.
var sharedCodec = new(codec)

// Encode implements compress.Codec.
func (c *codec) Encode(dst, src []byte) ([]byte, error) {
	e, ok := c.encoders.Get().(*zstd.Encoder)
	if !ok {
		var err error
		e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(codecWindow),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
		if err != nil {
			return nil, err
		}
	}
	defer c.encoders.Put(e)
	return e.EncodeAll(src, dst[:0]), nil
}

// CompressionCodec implements compress.Codec.
func (*codec) CompressionCodec() format.CompressionCodec { return format.Zstd }
