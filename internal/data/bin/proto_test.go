package bin

import (
	"bytes"
	"testing"
)

// FuzzCutField checks that the fields of a message are its bytes in order: written again, they give the message, unless
// a number is not in its shortest form.
func FuzzCutField(f *testing.F) {
	f.Add([]byte{0x0a, 2, 'a', 'b', 0x10, 0x96, 1, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4, 0xfa, 1, 0})
	f.Add([]byte{0x0a, 3, 'a', 'b'})                           // truncated
	f.Add([]byte{0x0b, 0x0c})                                  // a group
	f.Add([]byte{0x02, 0})                                     // number 0
	f.Add(append([]byte{0x12, 0x80, 1}, make([]byte, 128)...)) // a length of two bytes
	f.Fuzz(func(t *testing.T, message []byte) {
		var again []byte
		for b := message; len(b) > 0; {
			number, n, text, rest := CutField(b)
			if number == 0 {
				if rest != nil || text != nil {
					t.Fatalf("%x: the invalid field has a rest", b)
				}
				return
			}
			if len(rest) >= len(b) {
				t.Fatalf("%x: no progress", b)
			}
			wire := uint64(b[0] & 7)
			again = AppendVaruint(again, uint64(number)<<3|wire)
			switch wire {
			case 0:
				again = AppendVaruint(again, n)
			case 1:
				again = AppendU64(again, n)
			case 2:
				again = append(AppendVaruint(again, uint64(len(text))), text...)
			case 5:
				again = AppendU32(again, uint32(n))
			}
			if b = rest; len(b) == 0 && len(again) == len(message) && !bytes.Equal(again, message) {
				t.Fatalf("%x became %x", message, again)
			}
		}
		if len(again) > len(message) {
			t.Fatalf("%x has less than %x", message, again)
		}
	})
}
