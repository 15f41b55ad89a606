package parquetwriter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPagesHoldStringsOnce: strings as large as a page are stored once. Bounds in page headers would store them three
// times.
func TestPagesHoldStringsOnce(t *testing.T) {
	type row struct {
		Text string `parquet:"text"`
	}
	const rows, size = 50, 300_000
	source := rand.New(rand.NewPCG(1, 2))
	var file bytes.Buffer
	w := NewWriter[row](&file, &Options{})
	text := make([]byte, size)
	for i := range rows {
		for j := range text {
			text[j] = byte(' ' + source.IntN(64)) // 6 bits of information
		}
		if err := w.Write([]row{{fmt.Sprintf("%02d%s", i, text)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if most := rows * size * 5 / 4; file.Len() > most {
		t.Errorf("%d strings of %d bytes take %d bytes, want at most %d", rows, size, file.Len(), most)
	}
}
