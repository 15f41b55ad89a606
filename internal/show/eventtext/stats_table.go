package eventtext

import (
	"slices"

	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/select/where"
)

// A Table is the result of a Sink: one row per group.
type Table struct {
	opts   StatsOptions
	groups int
	rows   []*row
	more   *row // the groups after the limit, nil if there are none
	total  *row
	notes  []string
	// partial states that the number of values is not that of events.
	partial bool
}

// A row is a group, or several: its values are nil then.
type row struct {
	values []value
	tally
	of *distribution.Distribution
}

// Table returns the result after the last Write. limit is the maximum number of rows, 0 for all; the groups after it
// share one row. Call it once.
func (s *StatsSink) Table(limit int) *Table {
	rows := s.sorted()
	t := &Table{opts: s.opts, groups: len(rows), rows: rows, notes: s.Notes()}
	if limit > 0 && len(rows) > limit {
		t.rows, t.more = rows[:limit], join(rows[limit:])
	}
	t.total = join(t.rows)
	if t.more != nil {
		t.total = join([]*row{t.total, t.more})
	}
	t.partial = slices.ContainsFunc(rows, func(r *row) bool { return r.of.Count() != uint64(r.events) })
	return t
}

// join returns a row for all events of several rows.
func join(rows []*row) *row {
	all := &row{of: new(distribution.Distribution)}
	for _, r := range rows {
		all.events += r.events
		all.bytes += r.bytes
		all.of.Merge(r.of)
	}
	return all
}

// names returns the operands in canonical form.
func names(operands []*where.Operand) []string {
	list := make([]string, len(operands))
	for i, o := range operands {
		list[i] = o.String()
	}
	return list
}

// percents are the shares of the quantiles of a table.
var percents = [...]uint64{50, 90, 99}
