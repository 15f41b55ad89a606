package span_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A tracker creates activity IDs as .NET does: it appends a number to the path of the parent.
type activity struct {
	id    ntconv.GUID
	place int // index of the byte for the next number; 13 if there is no space
}

// add returns a child (System.Diagnostics.Tracing.ActivityTracker, AddIdToGuid, with its extra zero byte).
func (a activity) add(n uint32, overflow bool, pid uint32) activity {
	at := a.place
	if at >= 12 {
		return activity{place: 13}
	}
	nibble := func(v byte) {
		if a.id[at] != 0 {
			a.id[at] |= v
			at++
		} else {
			a.id[at] = v << 4
		}
	}
	if n > 0 && n <= 10 && !overflow {
		nibble(byte(n))
	} else {
		size := 4
		switch {
		case n <= 0xff:
			size = 1
		case n <= 0xffff:
			size = 2
		case n <= 0xffffff:
			size = 3
		}
		if overflow {
			if at+2 >= 12 {
				return activity{place: 13}
			}
			nibble(0xb)
		}
		nibble(byte(0xc + size - 1))
		if at < 12 && a.id[at] != 0 {
			if n < 4096 {
				a.id[at] = byte(0xc0 + n>>8)
				n &= 0xff
			}
			at++
		}
		for ; size > 0; size-- {
			if at >= 12 {
				return activity{place: 13}
			}
			a.id[at] = byte(n)
			n >>= 8
			at++
		}
	}
	sum := uint32(0x599D99AD)
	for i := 0; i < 12; i += 4 {
		sum += binary.LittleEndian.Uint32(a.id[i:])
	}
	binary.LittleEndian.PutUint32(a.id[12:], sum^pid)
	return activity{a.id, at}
}

// ParseActivityPath returns the numbers of a path and the IDs of all ancestors.
func TestActivityPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pid := rapid.Uint32Range(1, 1<<22-1).Draw(t, "pid")
		chain := []activity{activity{}.add(1, false, pid)}
		want := "//1"
		for range rapid.IntRange(1, 24).Draw(t, "numbers") {
			n := rapid.OneOf(rapid.Uint32Range(1, 20), rapid.Uint32Range(250, 300), rapid.Uint32Range(4000, 5000), rapid.Uint32Min(1)).Draw(t, "number")
			overflow := rapid.IntRange(0, 5).Draw(t, "overflow") == 0
			next := chain[len(chain)-1].add(n, overflow, pid)
			if next.place > 12 {
				break
			}
			chain = append(chain, next)
			separator := "/"
			if overflow {
				separator = "$"
			}
			want += separator + strconv.FormatUint(uint64(n), 10)
		}
		p, ok := span.ParseActivityPath(chain[len(chain)-1].id)
		if !ok || p.String() != want || p.Depth() != len(chain) {
			t.Fatalf("path of %v is %v (%t), depth %d, want %s", chain[len(chain)-1].id, p.String(), ok, p.Depth(), want)
		}
		for i, a := range chain {
			if got := p.Ancestor(i + 1); got != a.id {
				t.Fatalf("ancestor %d of %s is %v, want %v", i+1, want, got, a.id)
			}
		}
	})
}

// The ancestors of the IDs that a program saw are the IDs that it saw when the enclosing activities began.
func TestActivityPathTruth(t *testing.T) {
	data, err := os.ReadFile(corpus.Path("activities.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Moments []struct {
			What     string
			ID       int
			Activity string
		}
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	begun := make(map[string]ntconv.GUID)
	children := 0
	for _, m := range truth.Moments {
		id, err := ntconv.ParseGUID(m.Activity)
		if err != nil || id.IsZero() {
			continue
		}
		p, ok := span.ParseActivityPath(id)
		if strings.HasPrefix(m.What, "Note under") {
			if ok {
				t.Errorf("%s: %v is a path, want none", m.What, id)
			}
			continue
		}
		parent, isChild := parentOf(begun, m.What, m.ID)
		switch {
		case !ok:
			t.Errorf("%s %d: %v is not a path", m.What, m.ID, id)
		case isChild && p.Ancestor(p.Depth()-1) != parent:
			t.Errorf("%s %d: parent of %s is %v, want %v", m.What, m.ID, p.String(), p.Ancestor(p.Depth()-1), parent)
		case !isChild && p.Depth() != 2:
			t.Errorf("%s %d: path is %s, want one without a parent", m.What, m.ID, p.String())
		}
		if isChild {
			children++
		}
		name, _, _ := strings.Cut(m.What, " ")
		begun[name+strconv.Itoa(m.ID)] = id
	}
	if children < 8 {
		t.Errorf("%d activities have a parent, want 8 or more", children)
	}
}

// parentOf returns the activity that encloses the activity of a moment, according to the program's structure.
func parentOf(begun map[string]ntconv.GUID, what string, id int) (ntconv.GUID, bool) {
	switch {
	case strings.HasPrefix(what, "Pay"), strings.HasPrefix(what, "Note"), strings.HasPrefix(what, "Shipping"):
		return begun["OrderStart"+strconv.Itoa(id)], true
	case what == "DeepBegin" && id > 0:
		return begun["DeepBegin"+strconv.Itoa(id-1)], true
	}
	return ntconv.GUID{}, false
}

func FuzzActivityPath(f *testing.F) {
	f.Add([]byte{0x11, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0x1b, 0xc5, 0xff, 0xc1, 0x2c, 0, 0x12, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var id ntconv.GUID
		copy(id[:12], b)
		sum := uint32(0x599D99AD)
		for i := 0; i < 12; i += 4 {
			sum += binary.LittleEndian.Uint32(id[i:])
		}
		binary.LittleEndian.PutUint32(id[12:], sum^12345)
		p, ok := span.ParseActivityPath(id)
		if !ok {
			return
		}
		numbers := strings.FieldsFunc(p.String(), func(r rune) bool { return r == '/' || r == '$' })
		if len(numbers) != p.Depth() || p.Ancestor(p.Depth()) != id {
			t.Fatalf("%v: path %s, depth %d", id, p.String(), p.Depth())
		}
		// Each ancestor is a path with the first numbers; it ends before the next number.
		for d := 1; d < p.Depth(); d++ {
			a, ok := span.ParseActivityPath(p.Ancestor(d))
			if !ok || a.Depth() != d || !slices.Equal(strings.FieldsFunc(a.String(), func(r rune) bool { return r == '/' || r == '$' }), numbers[:d]) {
				t.Fatalf("ancestor %d of %s is %s (%t)", d, p.String(), a.String(), ok)
			}
		}
	})
}
