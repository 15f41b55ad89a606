package perfetto

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
)

// A deflater compresses packets as Perfetto's own service does: a packet with the field compressed_packets contains the
// others.
type deflater struct {
	z          *zlib.Writer
	compressed bytes.Buffer
	out        []byte
}

// maxDeflated is the maximum size of packets that are compressed together, in bytes. Perfetto wants less than 512 KiB
// after compression, which adds a few bytes to incompressible input.
const maxDeflated = 448 << 10

// compress returns the compressed form of packets, valid until the next call. It returns packets unchanged if they
// exceed maxDeflated, because one of them is huge.
func (d *deflater) compress(packets []byte) []byte {
	if len(packets) == 0 || len(packets) > maxDeflated {
		return packets
	}
	d.compressed.Reset()
	if d.z == nil {
		d.z, _ = zlib.NewWriterLevel(&d.compressed, zlib.DefaultCompression) // the level is valid
	} else {
		d.z.Reset(&d.compressed)
	}
	d.z.Write(packets) // a bytes.Buffer does not fail
	d.z.Close()
	out, packet := openMessage(d.out[:0], tracePacket)
	out = appendBytes(out, packetCompressed, d.compressed.Bytes())
	d.out = closeMessage(out, packet)
	return d.out
}
