// Command shop makes the profile go-cpu.pb.gz: two kinds of requests, distinguished by a label, one of which calculates
// and one of which sorts.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func price() { fib(25) }

func list() {
	words := strings.Split(strings.Repeat("tea,milk,bread,", 300), ",")
	sort.Strings(words)
}

func serve(endpoint string, d time.Duration, handle func()) {
	pprof.Do(context.Background(), pprof.Labels("endpoint", endpoint), func(context.Context) {
		for end := time.Now().Add(d); time.Now().Before(end); {
			handle()
		}
	})
}

func main() {
	if err := pprof.StartCPUProfile(os.Stdout); err != nil {
		panic(err)
	}
	serve("/cart", 800*time.Millisecond, price)
	serve("/list", 400*time.Millisecond, list)
	pprof.StopCPUProfile()
}
