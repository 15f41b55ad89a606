package profile_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
)

func open(t *testing.T, data []byte, order reader.Order) ntconv.Source {
	t.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return src
}
