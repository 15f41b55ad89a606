// This file replaces main.go of the command in the program that package growth builds. It runs the command once per line of standard
// input and prints the cost of each run.
package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"runtime/coverage"
)

// A request is one run of the command.
type request struct {
	Args   []string
	Stdout string // file for standard output
}

// An answer is the result of a run.
type answer struct {
	Code      int
	Stderr    string
	Allocated uint64 // total of all allocations in bytes
	Counters  []byte // counters of all blocks, in the format of internal/coverage
}

// Main serves the requests.
func Main() {
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r request
		check(json.Unmarshal(in.Bytes(), &r))
		check(out.Encode(serve(&r)))
	}
	check(in.Err())
}

func serve(r *request) (a answer) {
	stdout, err := os.Create(r.Stdout)
	check(err)
	os.Stdout = stdout // some output does not use the writers passed to run
	runtime.GC()       // otherwise garbage of the previous run determines when pools are emptied
	var before, after runtime.MemStats
	var errs, counters bytes.Buffer
	runtime.ReadMemStats(&before)
	check(coverage.ClearCounters())
	a.Code = run(r.Args, stdout, &errs)
	runtime.ReadMemStats(&after)
	check(coverage.WriteCounters(&counters))
	check(stdout.Close())
	a.Stderr, a.Counters, a.Allocated = errs.String(), counters.Bytes(), after.TotalAlloc-before.TotalAlloc
	return a
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
