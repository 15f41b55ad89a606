package payload

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Add returns the same names as a search that tries every number from the position upwards.
func TestKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		keys, taken := make(Keys), make(map[string]bool)
		for position := 1; position <= 40; position++ {
			name := [...]string{"a", "b", "a_2", "", "\xff", "\xfe"}[r.IntN(6)]
			if r.IntN(3) == 0 {
				name = fmt.Sprint("a_", r.IntN(50))
			}
			want := quotedKey(name)
			for n := position; taken[want]; n++ {
				want = quotedKey(fmt.Sprint(name, "_", n))
			}
			taken[want] = true
			if r.IntN(4) == 0 {
				keys.Take(want) // as for a member with a cached name
			} else if got := keys.Add(name, position); got != want {
				t.Fatalf("member %d, %q: key %s, want %s", position, name, got, want)
			}
		}
	}
}
