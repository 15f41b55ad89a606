package jsonio

import "github.com/go-json-experiment/json/jsontext"

// Valid reports whether text is one JSON value. Names of members need not be unique.
func Valid(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}
