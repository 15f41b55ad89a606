package symbol

import "github.com/ntconv/ntconv/internal/intern"

// texts keeps names as recorded, once each. Most names of a trace are never asked for, and many methods share a type or a signature.
type texts struct{ numbers intern.Bytes }

// A text is a number of texts. The zero text is empty.
type text uint32

// add returns the text of b, which it copies if it is new.
func (t *texts) add(b []byte) text { return text(t.numbers.Add(b)) }

// get returns the bytes of a text, which must not be changed.
func (t *texts) get(x text) []byte { return t.numbers.At(uint32(x)) }
