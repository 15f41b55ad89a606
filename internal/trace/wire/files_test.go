package wire_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// TestRealFiles checks that parsing every block of the version 6 traces in testdata and appending it again yields the
// same bytes.
func TestRealFiles(t *testing.T) {
	rewriteAll(t, wiretest.TestData(t), map[wire.Kind]int{
		wire.KindTrace: 3, wire.KindEvent: 7000, wire.KindMetadata: 20, wire.KindSequencePoint: 6, wire.KindStack: 300, wire.KindThread: 10,
	})
}

// TestSharedFiles does the same for many more files: files of one-collect, and vectors from Microsoft's tests.
func TestSharedFiles(t *testing.T) {
	rewriteAll(t, wiretest.Names(t), map[wire.Kind]int{
		wire.KindTrace: 60, wire.KindEvent: 200000, wire.KindMetadata: 150, wire.KindSequencePoint: 40, wire.KindStack: 10000,
		wire.KindThread: 100, wire.KindRemoveThread: 8, wire.KindLabelList: 20,
	})
}

// rewriteAll fails if the files have fewer rows of a kind than expected.
func rewriteAll(t *testing.T, names []string, expect map[wire.Kind]int) {
	rows := map[wire.Kind]int{}
	for _, name := range names {
		for b := range wiretest.Blocks(wiretest.Read(t, name)) {
			if b.Stream.Version != wire.V6 {
				break
			}
			again, n, err := rewrite(&b, strings.HasPrefix(name, "vectors/"))
			if err != nil {
				if !expected(name, err) {
					t.Errorf("%s: %v block at %#x: %v", name, b.Kind, b.Offset, err)
				}
				continue
			}
			rows[b.Kind] += n
			if !bytes.Equal(again, b.Body) {
				t.Errorf("%s: %v block at %#x: %d bytes became %d different bytes", name, b.Kind, b.Offset, len(b.Body), len(again))
			}
		}
	}
	for k, least := range expect {
		if rows[k] < least {
			t.Errorf("only %d rows of %v blocks were seen, want %d", rows[k], k, least)
		}
	}
}

// expected reports whether a vector has this error on purpose.
func expected(name string, err error) bool {
	for part, cause := range map[string]error{
		"LocThrowsOnVariableSizedElementType": bin.ErrValue,
		"V6UnknownThreadInfoKind":             bin.ErrUnknown,
		"V6TraceBlockTruncated":               bin.ErrShort,
	} {
		if strings.Contains(name, part) {
			return errors.Is(err, cause)
		}
	}
	return false
}

// rewrite parses a block, appends its rows and returns the number of rows. The vectors have optional elements in any
// order: if anyOrder is set, rewrite copies rows with such elements if the appended row has the same meaning.
func rewrite(b *wiretest.Block, anyOrder bool) (out []byte, n int, err error) {
	c := b.Cursor()
	switch b.Kind {
	case wire.KindTrace:
		tr, err := wire.ParseTrace(&c)
		return wire.AppendTrace(nil, &tr), 1, err
	case wire.KindEvent:
		return rewriteEvents(&c)
	case wire.KindMetadata:
		extra, err := wire.ParseMetadataHeader(&c)
		out = wire.AppendMetadataHeader(nil, extra)
		return each(&c, out, err, func(out []byte) ([]byte, error) {
			return rewriteRow(&c, out, anyOrder, parseMetadata, wire.AppendMetadata)
		})
	case wire.KindSequencePoint:
		sp, err := wire.ParseSequencePoint(&c, nil)
		return wire.AppendSequencePoint(nil, &sp), 1, err
	case wire.KindStack:
		r, err := wire.ParseStackHeader(&c)
		return each(&c, wire.AppendIDRange(nil, r), err, func(out []byte) ([]byte, error) {
			return wire.AppendStack(out, wire.NextStack(&c)), c.Err()
		})
	case wire.KindThread:
		return each(&c, nil, nil, func(out []byte) ([]byte, error) {
			return rewriteRow(&c, out, anyOrder, wire.ParseThread, wire.AppendThread)
		})
	case wire.KindRemoveThread:
		return each(&c, nil, nil, func(out []byte) ([]byte, error) {
			return wire.AppendThreadSeq(out, wire.ParseThreadSeq(&c)), c.Err()
		})
	case wire.KindLabelList:
		r, err := wire.ParseLabelHeader(&c)
		return each(&c, wire.AppendIDRange(nil, r), err, func(out []byte) ([]byte, error) {
			list, err := wire.ParseLabels(&c, nil, false)
			return wire.AppendLabels(out, list, false), err
		})
	}
	return b.Body, 0, nil
}

// each appends row after row until the cursor is empty.
func each(c *bin.Cursor, out []byte, err error, row func([]byte) ([]byte, error)) (_ []byte, n int, _ error) {
	for c.Len() > 0 && err == nil {
		out, err = row(out)
		n++
	}
	return out, n, err
}

func rewriteEvents(c *bin.Cursor) (out []byte, n int, err error) {
	h, err := wire.ParseEventBlockHeader(c)
	out = wire.AppendEventBlockHeader(nil, &h)
	var prev wire.EventHeader
	return each(c, out, err, func(out []byte) ([]byte, error) {
		next, rest, offset := prev, bytesOf(*c), c.Offset()
		if h.Compressed() {
			c.Skip(next.ParseCompressed(rest))
			out = wire.AppendCompressedAs(out, &prev, &next, next.Flags)
			err = wire.CompressedError(rest, offset)
		} else {
			c.Skip(next.ParseUncompressed(rest))
			out = wire.AppendUncompressed(out, &next)
		}
		prev = next
		out = append(out, c.Bytes(int(next.PayloadSize))...)
		return out, errors.Join(err, c.Err())
	})
}

func bytesOf(c bin.Cursor) []byte { return c.Rest() }

func parseMetadata(c *bin.Cursor) (wire.Metadata, error) { return wire.ParseMetadata(c, wire.Limits{}) }

func rewriteRow[T any](c *bin.Cursor, out []byte, anyOrder bool, parse func(*bin.Cursor) (T, error), appendTo func([]byte, *T) ([]byte, error)) ([]byte, error) {
	before := *c
	row, err := parse(c)
	if err != nil {
		return out, err
	}
	b, err := appendTo(nil, &row)
	if anyOrder {
		again := bin.New(b, 0)
		if same, err := parse(&again); err == nil && reflect.DeepEqual(row, same) {
			b = before.Bytes(before.Len() - c.Len())
		}
	}
	return append(out, b...), err
}
