package eventtext

import (
	"bytes"
	"encoding/json"

	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/data/message"
)

// tableJSON is a Table as JSON. The help of print describes the members. Sums and values are numbers with all their
// digits, which may exceed the range of a double.
type tableJSON struct {
	Input  string    `json:"input"`
	By     []string  `json:"by"`
	Of     string    `json:"of,omitempty"`
	Unit   string    `json:"unit,omitempty"`
	Groups int       `json:"groups"`
	Rows   []rowJSON `json:"rows"`
	More   *rowJSON  `json:"more,omitempty"`
	Total  rowJSON   `json:"total"`
	Notes  []string  `json:"notes,omitempty"`
}

type rowJSON struct {
	By     json.RawMessage `json:"by,omitempty"`
	Groups int             `json:"groups,omitempty"` // of the row more
	Events int64           `json:"events"`
	Bytes  int64           `json:"bytes"`
	*valuesJSON
}

// valuesJSON describes the values of a row. All members but the first two are absent if there is no value.
type valuesJSON struct {
	Values    uint64          `json:"values"`
	Sum       json.RawMessage `json:"sum,omitempty"`
	Min       json.RawMessage `json:"min,omitempty"`
	Mean      json.RawMessage `json:"mean,omitempty"`
	P50       json.RawMessage `json:"p50,omitempty"`
	P90       json.RawMessage `json:"p90,omitempty"`
	P99       json.RawMessage `json:"p99,omitempty"`
	Max       json.RawMessage `json:"max,omitempty"`
	Deviation float64         `json:"quantile_error,omitempty"`
}

// JSON returns the table as one JSON object, with input as the name of its input.
func (t *Table) JSON(input string) ([]byte, error) {
	o := tableJSON{Input: input, By: names(t.opts.By), Groups: t.groups, Rows: []rowJSON{}, Total: t.rowJSON(t.total), Notes: t.notes}
	if t.opts.Of != nil {
		o.Of = t.opts.Of.String()
		if t.opts.Of.IsTime() {
			o.Unit = "ns"
		}
	}
	for _, r := range t.rows {
		row := t.rowJSON(r)
		row.By = jsonObject(o.By, r.values)
		o.Rows = append(o.Rows, row)
	}
	if t.more != nil {
		more := t.rowJSON(t.more)
		more.Groups = t.groups - len(t.rows)
		o.More = &more
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(&o)
	return message.JSON(b.Bytes()), err
}

func (t *Table) rowJSON(r *row) rowJSON {
	out := rowJSON{Events: r.events, Bytes: r.bytes}
	if t.opts.Of == nil {
		return out
	}
	d := r.of
	out.valuesJSON = &valuesJSON{Values: d.Count()}
	if d.Count() == 0 {
		return out
	}
	var quantiles [len(percents)]distribution.Number
	d.Quantiles(quantiles[:], percents[:]...)
	v := out.valuesJSON
	if !t.opts.Of.IsTime() {
		v.Sum = json.RawMessage(d.Sum().String())
	}
	v.Mean = json.RawMessage(distribution.FormatFloat(d.Mean()))
	v.Min, v.Max = exactly(d.Min()), exactly(d.Max())
	v.P50, v.P90, v.P99 = exactly(quantiles[0]), exactly(quantiles[1]), exactly(quantiles[2])
	if !d.IsExact() {
		v.Deviation = distribution.QuantileError
	}
	return out
}

func exactly(n distribution.Number) json.RawMessage { return json.RawMessage(n.String()) }

// jsonObject returns the values of a group as an object whose keys are the operands.
func jsonObject(keys []string, list []value) json.RawMessage {
	if len(keys) == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonio.AppendQuoted(b, keys[i]), ':')
		switch v.form {
		case formNone:
			b = append(b, "null"...)
		case formNumber:
			b = append(b, v.text...)
		default:
			b = jsonio.AppendQuoted(b, v.text)
		}
	}
	return append(b, '}')
}
