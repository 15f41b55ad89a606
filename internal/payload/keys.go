package payload

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Keys are the JSON names of the members of one object, each with the suffix from which on a name like it may be free.
// Make one per object.
type Keys map[string]int

// Add returns the name of the next member, in quotes and with its colon, and makes sure that no later member gets it.
// If an earlier member has the name, the position of the member is appended to it; if that is taken as well, the next
// number that is not.
func (k Keys) Add(name string, position int) string {
	key := quotedKey(name)
	free, taken := k[key]
	if !taken {
		k[key] = 0
		return key
	}
	// All suffixes between the position of an earlier member with this name and the one that it got are taken, so they
	// are tried once.
	for n := max(position, free); ; n++ {
		next := quotedKey(name + "_" + strconv.Itoa(n))
		if _, taken := k[next]; !taken {
			k[key], k[next] = n+1, 0
			return next
		}
	}
}

// Take makes sure that no member gets a name that Add of an equal object has returned.
func (k Keys) Take(key string) {
	if _, taken := k[key]; !taken {
		k[key] = 0
	}
}

func quotedKey(name string) string {
	k, _ := jsontext.AppendQuote(nil, name) // the error only reports what was replaced
	return string(append(k, ':'))
}
