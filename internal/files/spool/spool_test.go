package spool

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

type added struct {
	key  Key
	data []byte
}

// orders are functions that return the time of record i of n.
var orders = map[string]func(r *rand.Rand, i, n int) int64{
	"in order":     func(_ *rand.Rand, i, _ int) int64 { return int64(i) },
	"equal":        func(*rand.Rand, int, int) int64 { return 7 },
	"reversed":     func(_ *rand.Rand, i, _ int) int64 { return int64(-i) },
	"random":       func(r *rand.Rand, _, _ int) int64 { return int64(r.Uint64()) },
	"few":          func(r *rand.Rand, _, _ int) int64 { return r.Int64N(5) },
	"1% late":      func(r *rand.Rand, i, n int) int64 { return lateBy(r, i, n/10) },
	"much later":   func(r *rand.Rand, i, n int) int64 { return lateBy(r, i, -n*10) },
	"first is max": func(_ *rand.Rand, i, _ int) int64 { return int64(i) + math.MaxInt64*int64(1-min(i, 1)) },
	"extremes":     func(r *rand.Rand, _, _ int) int64 { return []int64{math.MinInt64, -1, 0, math.MaxInt64}[r.IntN(4)] },
	"sawtooth":     func(_ *rand.Rand, i, _ int) int64 { return int64(i%97 + i/97) },
}

func lateBy(r *rand.Rand, i, by int) int64 {
	if r.IntN(100) == 0 {
		return int64(i - by)
	}
	return int64(i)
}

// expect reads all records and compares them with want.
func expect(t *testing.T, s *Spool, want []added) {
	t.Helper()
	r, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		k, data, err := r.Next()
		if err != nil || k != w.key || !bytes.Equal(data, w.data) {
			t.Fatalf("record %d of %d: %v %.20q, %v, want %v %.20q", i, len(want), k, data, err, w.key, w.data)
		}
	}
	for range 2 {
		if _, _, err := r.Next(); err != io.EOF {
			t.Fatalf("after the last record: %v", err)
		}
	}
}

// A Spool returns the result of a stable sort in memory for any order, memory and size of records, and leaves no file.
func TestSort(t *testing.T) {
	for name, timeOf := range orders {
		for _, memory := range []int{1, 3000, 50_000, 1 << 30} {
			for _, n := range []int{0, 1, 2, 300, 5000} {
				r := rand.New(rand.NewPCG(uint64(memory), uint64(n)))
				dir := t.TempDir()
				s := New(&Options{Dir: dir, Memory: memory})
				want := make([]added, n)
				for i := range want {
					data := make([]byte, r.IntN(30))
					if r.IntN(100) == 0 {
						data = make([]byte, r.IntN(10_000))
					}
					for j := range min(len(data), 8) {
						data[j] = byte(r.Uint32())
					}
					want[i] = added{Key{timeOf(r, i, n), r.Int64N(3) - 1}, data}
					if err := s.Add(want[i].key, data); err != nil {
						t.Fatal(err)
					}
				}
				slices.SortStableFunc(want, func(a, b added) int { return a.key.Compare(b.key) })
				for range 2 {
					expect(t, s, want)
				}
				if hasFile := s.file != nil; hasFile && memory == 1<<30 || !hasFile && memory < 1<<20 && n == 20_000 {
					t.Errorf("%s, %d records, memory %d: file %v", name, n, memory, hasFile)
				}
				if err := errors.Join(s.Close(), s.Close()); err != nil {
					t.Error(err)
				}
				if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
					t.Errorf("left %v, %v", left, err)
				}
			}
		}
	}
}

// Records in order, and nested operations that are added at their ends, need no sorting.
func TestRuns(t *testing.T) {
	fill := func(n int, timeOf func(i int) int64) *Spool {
		s := New(&Options{Dir: t.TempDir(), Memory: 10_000})
		t.Cleanup(func() { s.Close() })
		for i := range n {
			if err := s.Add(Key{Time: timeOf(i)}, make([]byte, 50)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := fill(100_000, func(i int) int64 { return int64(i) })
	if len(s.runs) != 0 || len(s.chains[0].extents) != 1 || len(s.chains[1].extents) != 0 {
		t.Errorf("in order: %d runs of late records, %d extents", len(s.runs), len(s.chains[0].extents))
	}
	s = fill(100_000, func(i int) int64 { return int64(i - 2*(i%4)) })
	if len(s.runs) != 0 {
		t.Errorf("nested: %d runs of late records", len(s.runs))
	}
	s = fill(100_000, func(i int) int64 { return int64(-i) })
	if n := len(s.runs); n == 0 || n > maxRuns {
		t.Errorf("reversed: %d runs of late records, want at most %d", n, maxRuns)
	}
}

// The memory depends on neither the number nor the order of the records.
func TestMemory(t *testing.T) {
	const memory, most = 1 << 20, 3 << 20
	for name, timeOf := range orders {
		s := New(&Options{Dir: t.TempDir(), Memory: memory})
		r := rand.New(rand.NewPCG(1, 2))
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		check := func() {
			t.Helper()
			runtime.GC()
			runtime.ReadMemStats(&now)
			if used := int64(now.HeapAlloc) - int64(before.HeapAlloc); used > most {
				t.Fatalf("%s: %d bytes are in use", name, used)
			}
		}
		const n = 100_000
		data := make([]byte, 100)
		for i := range n {
			if err := s.Add(Key{Time: timeOf(r, i, n)}, data); err != nil {
				t.Fatal(err)
			}
			if s.used > memory+memory/4 {
				t.Fatalf("%s: %d bytes are counted", name, s.used)
			}
			if i%(n/8) == 0 {
				check()
			}
		}
		in, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, _, err := in.Next(); err != nil {
				t.Fatal(err)
			}
			if i%(n/8) == 0 {
				check()
			}
		}
		runtime.KeepAlive(in)
		s.Close()
	}
}

// Records may be larger than the memory; at most the largest one is held in memory.
func TestLargeRecords(t *testing.T) {
	s := New(&Options{Dir: t.TempDir(), Memory: 10_000})
	defer s.Close()
	var want []added
	for i := range 200 {
		data := bytes.Repeat([]byte{byte(i)}, 1_000*(i%50)*(i%3))
		want = append(want, added{Key{Time: int64(i * 7919 % 200)}, data})
		if err := s.Add(want[i].key, data); err != nil {
			t.Fatal(err)
		}
		if s.used > 10_000+len(data)+1000 {
			t.Fatalf("%d bytes are counted after a record of %d", s.used, len(data))
		}
	}
	slices.SortStableFunc(want, func(a, b added) int { return a.key.Compare(b.key) })
	expect(t, s, want)
}

// Once its chunks exist, a Spool that writes to a file allocates nothing per record, and neither does its Reader.
func TestAllocations(t *testing.T) {
	for _, name := range []string{"in order", "random"} {
		s := New(&Options{Dir: t.TempDir(), Memory: 1 << 20})
		r, i, data := rand.New(rand.NewPCG(1, 2)), 0, make([]byte, 100)
		add := func() {
			if err := s.Add(Key{Time: orders[name](r, i, 0)}, data); err != nil {
				t.Fatal(err)
			}
			i++
		}
		for range 50_000 {
			add()
		}
		if n := testing.AllocsPerRun(50_000, add); n != 0 {
			t.Errorf("%s: Add allocates %v times", name, n)
		}
		in, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(50_000, func() { in.Next() }); n != 0 {
			t.Errorf("%s: Next allocates %v times", name, n)
		}
		s.Close()
	}
}

// limited is a file on a disk that is almost full.
type limited struct {
	file
	space int
}

var errFull = errors.New("no space left on device")

func (f *limited) Write(p []byte) (int, error) {
	if len(p) > f.space {
		n, _ := f.file.Write(p[:f.space])
		f.space = 0
		return n, errFull
	}
	f.space -= len(p)
	return f.file.Write(p)
}

// If the disk is full, Add or Read fails, and all later calls fail too.
func TestFullDisk(t *testing.T) {
	for _, space := range []int{0, 1, 10_000, 99_000, 150_000} {
		for name, timeOf := range orders {
			s := New(&Options{Dir: t.TempDir(), Memory: 10_000})
			create := s.create
			s.create = func() (file, error) {
				f, err := create()
				return &limited{f, space}, err
			}
			r := rand.New(rand.NewPCG(1, 2))
			var err error
			for i := 0; i < 1000 && err == nil; i++ {
				err = s.Add(Key{Time: timeOf(r, i, 1000)}, make([]byte, 100))
			}
			if err == nil && space < 90_000 {
				t.Errorf("%s: 100,000 bytes fit into %d", name, space)
			}
			if err == nil {
				_, err = s.Read()
			}
			if full := space < 100_000; full != errors.Is(err, errFull) {
				t.Errorf("%s, %d bytes: %v", name, space, err)
			} else if _, again := s.Read(); full && (again != err || s.Add(Key{}, nil) != err) {
				t.Errorf("%s, %d bytes: %v, then %v", name, space, err, again)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	small := New(&Options{Dir: t.TempDir(), Memory: 10_000, Max: 50_000})
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		err = small.Add(Key{Time: int64(i)}, make([]byte, 100))
	}
	if !errors.Is(err, ntconv.ErrLimit) || small.size > 50_000 {
		t.Errorf("%d bytes in the file, %v", small.size, err)
	}
	if err := small.Close(); err != nil {
		t.Error(err)
	}
	s := New(&Options{Dir: filepath.Join(t.TempDir(), "absent"), Memory: 100})
	var failed *Error
	for range 1000 {
		if err := s.Add(Key{}, nil); errors.As(err, &failed) {
			return
		}
	}
	t.Error("a file was created in a directory that does not exist")
}

// If another program changes the file, the Reader fails; it does not return wrong records endlessly.
func TestChangedFile(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := New(&Options{Dir: t.TempDir(), Memory: 5_000})
		m := &memoryFile{}
		s.create = func() (file, error) { return m, nil }
		for range 500 {
			if err := s.Add(Key{Time: r.Int64N(1000)}, make([]byte, 50)); err != nil {
				t.Fatal(err)
			}
		}
		in, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 0 {
			m.b = m.b[:r.IntN(len(m.b))]
		} else {
			for range 10 {
				m.b[r.IntN(len(m.b))] ^= 0xff
			}
		}
		n := 0
		for err == nil {
			_, _, err = in.Next()
			n++
		}
		if n > len(m.b)+1000 || err != io.EOF && !errors.Is(err, ErrChanged) {
			t.Errorf("seed %d: %d records, %v", seed, n, err)
		}
		if _, _, again := in.Next(); again != err {
			t.Errorf("seed %d: %v, then %v", seed, err, again)
		}
	}
}

type memoryFile struct{ b []byte }

func (m *memoryFile) Write(p []byte) (int, error) { m.b = append(m.b, p...); return len(p), nil }
func (m *memoryFile) Close() error                { return nil }

func (m *memoryFile) ReadAt(p []byte, offset int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(p, offset)
}

// Calls in the wrong order are errors.
func TestMisuse(t *testing.T) {
	s := New(nil)
	if _, err := s.Read(); err != nil {
		t.Error(err)
	}
	if err := s.Add(Key{}, nil); err != errSealed {
		t.Errorf("Add after Read returns %v", err)
	}
	s.Close()
	if _, err := s.Read(); err != errClosed {
		t.Errorf("Read after Close returns %v", err)
	}
	if err := s.Add(Key{}, nil); err != errClosed {
		t.Errorf("Add after Close returns %v", err)
	}
}

// A header round-trips. Arbitrary bytes are either an invalid header or one whose size is within the limit.
func FuzzHeader(f *testing.F) {
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), int64(1), int64(-1), []byte{0x80})
	f.Fuzz(func(t *testing.T, t1, r1, t2, r2 int64, other []byte) {
		before, k := Key{t1, r1}, Key{t2, r2}
		b := appendHeader(nil, before, k, len(other))
		got, size, rest := header(append(b, other...), before)
		if got != k || size != len(other) || !bytes.Equal(rest, other) || len(b) > maxHeader {
			t.Fatalf("%v %d %q, want %v %d %q", got, size, rest, k, len(other), other)
		}
		if _, size, rest := header(other, before); rest != nil && (size < 0 || size > maxRecord || len(other)-len(rest) > maxHeader) {
			t.Fatalf("%q: size %d, rest %q", other, size, rest)
		}
	})
}
