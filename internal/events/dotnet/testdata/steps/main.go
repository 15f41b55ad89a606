// Command steps reads names as JSON and prints the number of steps that package dotnet needs for each of them. The test
// compiles it together with an instrumented copy of the package.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"steps/dotnet"
	"steps/strings"
)

func main() {
	debug.SetGCPercent(-1)
	var names []struct{ Call, A, B, C string }
	if err := json.NewDecoder(os.Stdin).Decode(&names); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var list []int
	for _, n := range names {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		strings.Steps, dotnet.Steps = 0, 0
		call(n.Call, n.A, n.B, n.C)
		runtime.ReadMemStats(&after)
		list = append(list, dotnet.Steps+strings.Steps+int(after.TotalAlloc-before.TotalAlloc)/8)
	}
	if err := json.NewEncoder(os.Stdout).Encode(list); err != nil {
		os.Exit(1)
	}
}

func call(name, a, b, c string) {
	switch m := (dotnet.Method{Namespace: a, Name: b, Signature: c}); name {
	case "pretty":
		m.Pretty()
	case "raw":
		m.Raw()
	case "symbol":
		if s, ok := dotnet.ParseSymbol(a); ok {
			s.Pretty()
		}
	case "split":
		dotnet.Split(a, b)
	case "module":
		dotnet.ShortModule(a)
	}
}
