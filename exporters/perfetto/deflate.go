package perfetto

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
)

// A deflater compresses packets as Perfetto's own service does: a packet with the field compressed_packets holds
// others.
type deflater struct {
	z      *zlib.Writer
	packed bytes.Buffer
	out    []byte
}

// maxDeflated is the size of packets that are compressed together. Perfetto wants less than 512 KiB after compression,
// which adds a few bytes to what it cannot compress.
const maxDeflated = 448 << 10

// pack returns the compressed form of packets, valid until the next call. Packets with a single huge one among them
// stay as they are.
func (d *deflater) pack(packets []byte) []byte {
	if len(packets) == 0 || len(packets) > maxDeflated {
		return packets
	}
	d.packed.Reset()
	if d.z == nil {
		d.z, _ = zlib.NewWriterLevel(&d.packed, zlib.DefaultCompression) // the level is valid
	} else {
		d.z.Reset(&d.packed)
	}
	d.z.Write(packets) // a bytes.Buffer does not fail
	d.z.Close()
	out, packet := openMessage(d.out[:0], tracePacket)
	out = appendBytes(out, packetCompressed, d.packed.Bytes())
	d.out = closeMessage(out, packet)
	return d.out
}
