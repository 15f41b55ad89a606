package growth

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A funcID identifies a function of the program: its package, and its number in the package.
type funcID struct{ pkg, fn uint32 }

var errCounters = errors.New("counters are not in the format of internal/coverage, version 1")

// decode decodes the coverage counters of a program (internal/coverage/defs.go in the Go tree): a file header of 32
// bytes, the header of one segment, its strings and arguments, and for each executed function the number of its blocks,
// its package, its number, and the counts.
func decode(b []byte) (map[funcID][]uint32, error) {
	const fileHeader, segmentHeader = 32, 16
	const flavor, uleb128 = 24, 2
	if len(b) < fileHeader+segmentHeader || string(b[:8]) != "\x00cwm\x01\x00\x00\x00" || b[flavor] != uleb128 {
		return nil, errCounters
	}
	h := b[fileHeader:]
	n := binary.LittleEndian.Uint64(h)
	skip := uint64(binary.LittleEndian.Uint32(h[8:])) + uint64(binary.LittleEndian.Uint32(h[12:]))
	skip = (fileHeader + segmentHeader + skip + 3) &^ 3
	if skip > uint64(len(b)) {
		return nil, errCounters
	}
	b = b[skip:]
	next := func() uint32 {
		v, size := binary.Uvarint(b)
		b = b[max(size, 0):]
		return uint32(v)
	}
	funcs := make(map[funcID][]uint32)
	for range n {
		blocks, id := next(), funcID{next(), next()}
		if uint64(blocks) > uint64(len(b)) {
			return nil, errCounters
		}
		counts := make([]uint32, blocks)
		for i := range counts {
			counts[i] = next()
		}
		funcs[id] = counts
	}
	return funcs, nil
}

func sum(blocks []uint32) (n uint64) {
	for _, c := range blocks {
		n += uint64(c)
	}
	return n
}

// A Block is a block of code and its number of executions in two runs.
type Block struct {
	Place         string // file, lines and columns
	Before, After int
}

func (b Block) String() string { return fmt.Sprintf("%s: %d, then %d", b.Place, b.Before, b.After) }

// Hot returns the n blocks whose number of executions grew the most between two runs.
func (p *Program) Hot(small, large *Cost, n int) ([]Block, error) {
	before, err := p.profile(small)
	if err != nil {
		return nil, err
	}
	after, err := p.profile(large)
	if err != nil {
		return nil, err
	}
	var blocks []Block
	for place, count := range after {
		blocks = append(blocks, Block{strings.TrimPrefix(place, module+"/"), before[place], count})
	}
	// A linear count has doubled, so only the excess matters.
	slices.SortFunc(blocks, func(a, b Block) int {
		return cmp.Or(cmp.Compare(b.After-2*b.Before, a.After-2*a.Before), cmp.Compare(a.Place, b.Place))
	})
	return blocks[:min(n, len(blocks))], nil
}

// profile returns the number of executions of each block in a run.
func (p *Program) profile(c *Cost) (map[string]int, error) {
	dir, err := os.MkdirTemp(p.dir, "hot")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	meta, err := filepath.Glob(filepath.Join(p.dir, "covmeta.*"))
	if err != nil || len(meta) != 1 {
		return nil, fmt.Errorf("%d files describe the counters, want 1: %w", len(meta), err)
	}
	name := filepath.Base(meta[0])
	if err := os.Link(meta[0], filepath.Join(dir, name)); err != nil {
		return nil, err
	}
	counters := strings.Replace(name, "covmeta", "covcounters", 1) + ".1.1"
	if err := os.WriteFile(filepath.Join(dir, counters), c.counters, 0o600); err != nil {
		return nil, err
	}
	text := filepath.Join(dir, "text")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", text).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go tool covdata: %w: %s", err, out)
	}
	b, err := os.ReadFile(text)
	counts := make(map[string]int)
	for line := range strings.Lines(string(b)) { // FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT
		if f := strings.Fields(line); len(f) == 3 {
			counts[f[0]], _ = strconv.Atoi(f[2])
		}
	}
	return counts, err
}
