package parquetwriter

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	pqzstd "github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// codecWindow is the zstd window in bytes. It is larger than most pages. The default is four times as large, and
// clearing that costs more time than compressing a small file.
const codecWindow = 1 << 20

// encoders compresses pages with zstd at its fastest level. It is safe for concurrent use.
type encoders struct {
	pool sync.Pool
	pqzstd.Codec
}

var _ compress.Codec = (*encoders)(nil)

// sharedEncoders is the pool of encoders of all files: an encoder has a megabyte of buffers, and a trace may have
// thousands of small files.
var sharedEncoders = new(encoders)

// Encode implements compress.Codec.
func (c *encoders) Encode(dst, src []byte) ([]byte, error) {
	e, ok := c.pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		e, err = zstd.NewWriter(
			nil,
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(codecWindow),
			zstd.WithLowerEncoderMem(true),
			zstd.WithZeroFrames(true),
			zstd.WithEncoderCRC(false),
		)
		if err != nil {
			return nil, err
		}
	}
	defer c.pool.Put(e)
	return e.EncodeAll(src, dst[:0]), nil
}

// CompressionCodec implements compress.Codec.
func (*encoders) CompressionCodec() format.CompressionCodec { return format.Zstd }
