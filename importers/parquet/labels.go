package parquet

import (
	"encoding/hex"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/tables"
)

// labels holds the label lists of a trace by ID. It reads the table up to the latest list that an event refers to.
type labels struct {
	d    *definitions
	rows *rows[tables.Label]
	ids  intern.IDs[*ntconv.Labels]
}

func newLabels(d *definitions) (l *labels, err error) {
	l = &labels{d: d}
	l.rows, err = newRows[tables.Label](d.f, "labels")
	return l, err
}

// get returns the list with an ID, or nil if there is none.
func (l *labels) get(n int64) (*ntconv.Labels, error) {
	for {
		if found := l.ids.Get(uint64(n)); found != nil {
			return found, nil
		}
		row, err := l.rows.head()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if err := l.list(row.LabelListID); err != nil {
			return nil, err
		}
	}
}

// list reads the rows of a list.
func (l *labels) list(n int64) error {
	var list []ntconv.Label
	for {
		row, err := l.rows.head()
		if err == io.EOF || err == nil && row.LabelListID != n {
			break
		}
		if err != nil {
			return err
		}
		list = append(list, l.label(row))
		if err := l.d.memory.add(rowBytes + len(row.Key) + len(row.Value)); err != nil {
			return inTable("labels", err)
		}
		l.rows.skip()
	}
	if l.ids.Set(uint64(n), ntconv.NewLabels(list)) != nil {
		l.d.f.o.Report.Add(ntconv.CodeRedefined, 1, -1)
	}
	return nil
}

// label returns the label for a row.
func (l *labels) label(row *tables.Label) ntconv.Label {
	label := ntconv.Label{Kind: ntconv.LabelKind(row.LabelKind), Key: row.Key, Unit: row.Unit}
	if row.ValueInt != nil {
		label.Num = *row.ValueInt
	}
	switch label.Kind {
	case ntconv.LabelActivityID, ntconv.LabelRelatedActivityID, ntconv.LabelTraceID, ntconv.LabelSpanID:
		var ok bool
		if label.ID, ok = parseID(row.Value); !ok {
			l.d.f.o.Report.Note(ntconv.CodeRowSkipped, 1, -1, "table labels: column value is not an ID")
		}
	default:
		label.Str = row.Value
	}
	return label
}

// parseID parses an ID of up to 32 hexadecimal digits, or a GUID. An empty text is the zero ID.
func parseID(text string) (id [16]byte, ok bool) {
	if len(text) == 36 {
		g, err := ntconv.ParseGUID(text)
		return g, err == nil
	}
	if len(text) > 2*len(id) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil
}
