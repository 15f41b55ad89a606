package convert_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/convert"
)

// A service that passes names of others to Open must not become a client of the addresses among them.
func TestOpenAddress(t *testing.T) {
	for _, name := range []string{"http://127.0.0.1:1/a.nettrace", "https://host/a.nettrace", "s3://bucket/a.nettrace"} {
		src, err := convert.Open(t.Context(), name, nil)
		if err == nil || !strings.Contains(err.Error(), "addresses are not supported") {
			t.Errorf("%s: %v, %v", name, src, err)
		}
	}
}
