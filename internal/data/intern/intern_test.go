package intern_test

import (
	"bytes"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/data/intern"
)

// TestIndexIsAMap compares a table over an Index with a map, for any hashes, including equal ones.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mask := rapid.SampledFrom([]uint64{0, 1, 0xff, 0xffffffff, 0xffffffff << 32, ^uint64(0)}).Draw(t, "hash bits")
		hash := func(k uint64) uint64 { return k * 0x9e3779b97f4a7c15 & mask }
		var index intern.Index
		list, want := []uint64{0}, map[uint64]uint32{}
		for i, k := range rapid.SliceOfN(rapid.Uint64Range(0, 500), 0, 2000).Draw(t, "keys") {
			if i > 0 && k == 500 {
				index.Reset()
				list = list[:1]
				clear(want)
			}
			var got uint32
			p := index.Probe(hash(k))
			for p.Next() {
				if list[p.ID] == k {
					got = p.ID
					break
				}
			}
			if got != want[k] {
				t.Fatalf("key %d has the number %d, want %d", k, got, want[k])
			}
			if got == 0 {
				want[k] = uint32(len(list))
				index.Insert(&p, want[k])
				list = append(list, k)
			}
		}
	})
}

func TestProbeYieldsEveryEqualHash(t *testing.T) {
	var index intern.Index
	const n = 1000
	for i := uint32(1); i <= n; i++ {
		p := index.Probe(uint64(i%10) << 40)
		for p.Next() {
		}
		index.Insert(&p, i)
	}
	for h := range uint32(10) {
		found := map[uint32]bool{}
		for p := index.Probe(uint64(h) << 40); p.Next(); {
			if p.ID%10 == h {
				found[p.ID] = true
			}
		}
		if len(found) != n/10 {
			t.Errorf("%d of %d numbers with the hash %d", len(found), n/10, h)
		}
	}
}

// checkBytes adds strings to a Bytes and to a map.
func checkBytes(t rapid.TB, all [][]byte, reset func(i int) bool) {
	var table intern.Bytes
	want := map[string]uint32{"": 0}
	for i, s := range all {
		if reset(i) {
			table.Reset()
			want = map[string]uint32{"": 0}
		}
		id, known := want[string(s)]
		if got := table.Find(s); got != id {
			t.Fatalf("Find(%.100q) = %d, want %d", s, got, id)
		}
		if !known {
			id = uint32(len(want))
			want[string(s)] = id
		}
		b := bytes.Clone(s)
		if got := table.Add(b); got != id {
			t.Fatalf("Add(%.100q) = %d, want %d", s, got, id)
		}
		for i := range b {
			b[i] ^= 0xff // Add must have copied it
		}
		if table.Len() != len(want)-1 {
			t.Fatalf("%d strings, want %d", table.Len(), len(want)-1)
		}
	}
	for s, id := range want {
		if got := table.At(id); string(got) != s {
			t.Fatalf("At(%d) = %.100q, want %.100q", id, got, s)
		}
	}
}

func TestBytesIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Custom(func(t *rapid.T) []byte {
			b := rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 4).Draw(t, "letters")
			return bytes.Repeat(b, rapid.SampledFrom([]int{1, 1, 1, 1000, 40_000}).Draw(t, "times"))
		})
		at := rapid.IntRange(1, 400).Draw(t, "reset")
		checkBytes(t, rapid.SliceOfN(word, 0, 300).Draw(t, "words"), func(i int) bool { return i%at == 0 })
	})
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte("a,b,a,,b,c,aaaaaaaa,R,a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := bytes.Split(data, []byte{','})
		checkBytes(t, all, func(i int) bool { return string(all[i]) == "R" })
	})
}

func TestTableIsAMap(t *testing.T) {
	type key struct {
		name string
		n    int
		p    *int
	}
	pointers := []*int{nil, new(int), new(int)}
	rapid.Check(t, func(t *rapid.T) {
		var table intern.Table[key]
		want := map[key]uint32{}
		for range rapid.IntRange(0, 500).Draw(t, "keys") {
			k := key{rapid.StringMatching("[a-d]?").Draw(t, "name"), rapid.IntRange(0, 9).Draw(t, "n"), rapid.SampledFrom(pointers).Draw(t, "p")}
			id, known := want[k]
			if got := table.Find(k); got != id {
				t.Fatalf("Find(%v) = %d, want %d", k, got, id)
			}
			if !known {
				id = uint32(len(want) + 1)
				want[k] = id
			}
			if got, fresh := table.Add(k); got != id || fresh == known {
				t.Fatalf("Add(%v) = %d, %v, want %d, %v", k, got, fresh, id, !known)
			}
			if table.At(id) != k || table.All()[id-1] != k || table.Len() != len(want) {
				t.Fatalf("At(%d) = %v of %d, want %v of %d", id, table.At(id), table.Len(), k, len(want))
			}
		}
	})
}

// checkIDs performs operations on IDs and on a map. Each operation is a byte and an ID.
func checkIDs(t rapid.TB, ops []byte, ids []uint64) {
	var table intern.IDs[uint32]
	want := map[uint64]uint32{}
	for i, id := range ids {
		switch op := ops[i%len(ops)]; {
		case op < 160:
			v := uint32(i + 1)
			if old := table.Set(id, v); old != want[id] {
				t.Fatalf("Set(%d) returned %d, want %d", id, old, want[id])
			}
			want[id] = v
		case op < 250:
			table.Remove(id)
			delete(want, id)
		default:
			table.Reset()
			clear(want)
		}
		for _, id := range []uint64{id, id + 1, ids[0]} {
			if got := table.Get(id); got != want[id] {
				t.Fatalf("Get(%d) = %d, want %d", id, got, want[id])
			}
			if got := table.Near(id); got != 0 && got != want[id] {
				t.Fatalf("Near(%d) = %d, want %d", id, got, want[id])
			}
		}
	}
	for id, v := range want {
		if got := table.Get(id); got != v {
			t.Fatalf("Get(%d) = %d, want %d", id, got, v)
		}
	}
}

func TestIDsIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 3000), rapid.Uint64())
		ids := rapid.SliceOfN(id, 1, 2000).Draw(t, "ids")
		checkIDs(t, rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "operations"), ids)
	})
}

func FuzzIDs(f *testing.F) {
	f.Add([]byte{0, 200, 255}, []byte{1, 2, 3, 200, 255, 100, 5})
	f.Fuzz(func(t *testing.T, ops, steps []byte) {
		if len(ops) == 0 || len(steps) == 0 {
			return
		}
		ids, id := make([]uint64, len(steps)), uint64(0)
		for i, s := range steps {
			if id += uint64(s); s > 250 {
				id = id*257 + uint64(s)
			}
			ids[i] = id
		}
		checkIDs(t, ops, ids)
	})
}

// TestIDsMemory checks that memory is proportional to the number of IDs, also if an attacker chooses them.
func TestIDsMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		id   func(i uint64) uint64
	}{
		{"far apart", func(i uint64) uint64 { return i << 40 }},
		{"each as far as the slice may grow", func(i uint64) uint64 { return 2*i + 60 }},
		{"from the top", func(i uint64) uint64 { return ^i }},
		{"just too far", func(i uint64) uint64 { return 3*i + 100 }},
	} {
		const n = 10_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var table intern.IDs[uint32]
		for i := range uint64(n) {
			table.Set(c.id(i), 1)
		}
		runtime.ReadMemStats(&after)
		if per := (after.TotalAlloc - before.TotalAlloc) / n; per > 120 { // a map of them, including its growth
			t.Errorf("IDs %s: %d bytes allocated per ID", c.name, per)
		}
	}
}

// TestCache checks that Get returns the last value of a key or nothing, and finds the last key.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := intern.NewCache[uint64, int](rapid.Uint8Range(1, 6).Draw(t, "bits"))
		hashBits := rapid.SampledFrom([]uint64{0, 3, ^uint64(0)}).Draw(t, "hash bits")
		want := map[uint64]int{}
		for i, k := range rapid.SliceOf(rapid.Uint64Range(0, 40)).Draw(t, "keys") {
			if v := c.Get(k&hashBits, &k); v != nil {
				if w, known := want[k]; !known || *v != w {
					t.Fatalf("key %d has the value %d, want %d", k, *v, w)
				}
				continue
			}
			want[k] = i
			c.Put(k&hashBits, &k, i)
			if v := c.Get(k&hashBits, &k); v == nil || *v != i {
				t.Fatalf("key %d is not found after Put", k)
			}
		}
	})
}

// TestCacheKeepsNeighbors checks that most keys with neighboring hashes, such as addresses of a program, do not evict
// each other.
func TestCacheKeepsNeighbors(t *testing.T) {
	for _, stride := range []uint64{1, 4, 16, 4096, 1 << 20} {
		const n = 256
		c := intern.NewCache[uint64, int](10)
		for i := range uint64(n) {
			k := 0x7f0000000000 + i*stride
			c.Put(k, &k, int(i))
		}
		kept := 0
		for i := range uint64(n) {
			if k := 0x7f0000000000 + i*stride; c.Get(k, &k) != nil {
				kept++
			}
		}
		if kept < n/2 {
			t.Errorf("of %d keys in steps of %d, %d are found", n, stride, kept)
		}
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	type frame struct {
		p    *int
		name string
		line int
	}
	var (
		index intern.Index
		table intern.Table[frame]
		strs  intern.Bytes
		ids   intern.IDs[*int]
		cache = intern.NewCache[frame, int](8)
		k     = frame{new(int), "name", 1}
		b     = []byte("some bytes")
	)
	round := func() {
		if p := index.Probe(5); !p.Next() {
			index.Insert(&p, 1)
		}
		table.Add(k)
		strs.Add(b)
		ids.Set(3, k.p)
		ids.Set(1<<50, k.p)
		if cache.Get(1, &k) == nil {
			cache.Put(1, &k, 1)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
