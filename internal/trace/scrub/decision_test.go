package scrub_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/reader"
)

// A word that is replaced has one pseudonym in all texts of all traces, whatever their fields, attributes and classes.
func TestOnePseudonymPerWord(t *testing.T) {
	s, err := scrub.New(scrub.Options{Key: key, Examples: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pseudonyms, texts := map[string]string{}, map[string]string{}
	for _, f := range traces(t) {
		data := f.Data
		if data == nil {
			data = corpus.Read(t, f.Path)
		}
		src, err := reader.New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		for clean := s.Source(src); err == nil; {
			_, err = clean.Next()
		}
		if err != io.EOF && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrUnsupported) {
			t.Fatal(f.Name, err)
		}
		for _, row := range s.Result().Rows {
			for _, e := range row.Examples {
				if strings.ContainsAny(e.Before, `%\`) || strings.HasSuffix(e.Before, "...") {
					continue // escapes, and texts that are truncated in a word
				}
				separates := func(r rune) bool { return r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
				before, after := strings.FieldsFunc(e.Before, separates), strings.FieldsFunc(e.After, separates)
				if len(before) != len(after) {
					t.Fatalf("%s: %q became %q", f.Name, e.Before, e.After)
				}
				for i, word := range before {
					word, pseudonym := strings.ToLower(word), strings.ToLower(after[i])
					if word == pseudonym {
						continue
					}
					if other := pseudonyms[word]; other != "" && other != pseudonym {
						t.Errorf("%s: %s became %s in %q, and %s in %q", f.Name, word, pseudonym, e.Before, other, texts[word])
					}
					pseudonyms[word], texts[word] = pseudonym, e.Before
				}
			}
		}
	}
	if len(pseudonyms) < 200 {
		t.Errorf("%d words, which are too few", len(pseudonyms))
	}
}
