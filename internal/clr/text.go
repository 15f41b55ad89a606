package clr

import "github.com/ntconv/ntconv/internal/bin"

func cutUTF16(b []byte) (text, rest []byte, ok bool) { return bin.CutUTF16(b) }
