package timeline_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// The args of an event are the fields of its payload.
func TestFields(t *testing.T) {
	const eventsPerType = 20
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		src, _ := timelines.Open(t, file.Data)
		var schemas schema.Table
		seen, s := map[*ntconv.Type]int{}, new(timeline.Source)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != ntconv.KindEvent || seen[e.Type] == eventsPerType {
				continue
			}
			seen[e.Type]++
			var got, want string
			for f, v := range schemas.Of(e).Values(e) {
				if v.Kind() != ntconv.ValueNull {
					want += f.Name + "=" + spelled(v) + "\n"
				}
			}
			labels := e.Labels
			s.Event, e.Labels = e, nil
			for name, v := range s.Args(true) {
				got += name + "=" + spelledArg(v) + "\n"
			}
			if e.Labels = labels; got != want {
				t.Fatalf("args:\n%swant:\n%s", got, want)
			}
		}
	})
}

// spelled returns a value as spelledArg spells the arg.
func spelled(v ntconv.Value) (text string) {
	switch v.Kind() {
	case ntconv.ValueList:
		for e := range v.Elems() {
			text += "=" + spelled(e) + ";"
		}
		return "(" + text + ")"
	case ntconv.ValueObject:
		for f, m := range v.Fields() {
			text += f.Name + "=" + spelled(m) + ";"
		}
		return "(" + text + ")"
	case ntconv.ValueBool:
		return map[bool]string{false: "0", true: "1"}[v.Bool()]
	case ntconv.ValueFloat:
		return fmt.Sprint(v.Float())
	case ntconv.ValueError:
		return "error: " + v.Err().Error()
	case ntconv.ValueBytes:
		return fmt.Sprintf("hex:%x", v.Bytes())
	case ntconv.ValueTime:
		return v.Time().Format(time.RFC3339Nano)
	}
	return v.String()
}

func spelledArg(v *timeline.Value) (text string) {
	switch v.Kind {
	case timeline.BoolValue, timeline.UintValue:
		return fmt.Sprint(v.Uint())
	case timeline.IntValue:
		return fmt.Sprint(v.Int())
	case timeline.FloatValue:
		return fmt.Sprint(v.Float())
	case timeline.TextValue:
		if at, err := time.Parse("2006-01-02T15:04:05.0000000Z", string(v.Text)); err == nil {
			return at.Format(time.RFC3339Nano)
		}
		return string(v.Text)
	case timeline.NullValue:
		return "null"
	}
	for name, m := range v.Members() {
		text += name + "=" + spelledArg(m) + ";"
	}
	return "(" + text + ")"
}
