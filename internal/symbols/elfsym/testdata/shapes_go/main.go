// Command shapes_go is compiled by tests, which look up its functions.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type shape interface{ area() float64 }

type circle[T int | float64] struct{ radius T }

func squared(v float64) float64 { return v * v }

//go:noinline
func (c circle[T]) area() float64 { return squared(float64(c.radius)) * 3.14159 }

//go:noinline
func count(words []string) map[string]int {
	counts := make(map[string]int)
	for _, w := range words {
		counts[strings.ToLower(w)]++
	}
	return counts
}

func main() {
	total := 0.0
	for _, s := range []shape{circle[int]{len(os.Args)}, circle[float64]{0.5}} {
		total += s.area()
	}
	var names []string
	for name := range count(os.Args) {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	if total < 0 {
		fmt.Fprintln(os.Stderr, names)
		os.Exit(1)
	}
}
