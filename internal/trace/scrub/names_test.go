package scrub

import (
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// oneEvent yields one event.
type oneEvent struct{ events []*ntconv.Event }

func (s *oneEvent) Info() *ntconv.Info { return &ntconv.Info{Format: "test", PointerSize: 8} }

func (s *oneEvent) Next() (*ntconv.Event, error) {
	if len(s.events) == 0 {
		return nil, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

// Keys that programs make of data do not survive, ordinary keys do, and a payload that no type describes becomes zero.
func TestKeysAndPayloadsWithoutType(t *testing.T) {
	sc, err := New(Options{Key: make([]byte, KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	labels := ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelString, Key: "alice@example.com", Str: "x"},
		{Kind: ntconv.LabelInt, Key: "bob@example.com", Num: 1},
		{Kind: ntconv.LabelInt, Key: "shop.items", Num: 2},
	})
	src := sc.Source(&oneEvent{[]*ntconv.Event{{Labels: labels, Payload: []byte("secret")}}})
	e, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, l := range e.Labels.List() {
		keys = append(keys, l.Key)
	}
	all := strings.Join(keys, " ")
	if strings.Contains(all, "alice") || strings.Contains(all, "bob") || !strings.Contains(all, "shop.items") || len(keys) != 3 {
		t.Errorf("keys %q", keys)
	}
	if len(e.Payload) != 6 || strings.Trim(string(e.Payload), "\x00") != "" {
		t.Errorf("payload %q", e.Payload)
	}
}
