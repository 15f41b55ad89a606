package otlp_test

import (
	"errors"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
)

// responses are bodies of responses with what they state: nil for a full success or an invalid body. The tests of e2e
// compare ParseResponse with the generated code of the service.
var responses = map[string]*otlp.PartialSuccessError{
	"":                                     nil,
	"\x0a\x00":                             nil,
	"\x0a\x02\x08\x03":                     {Rejected: 3},
	"\x0a\x06\x12\x04slow":                 {Message: "slow"},
	"\x0a\x0a\x08\x80\x80\x01\x12\x04slow": {Rejected: 1 << 14, Message: "slow"},
	"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": {Rejected: -1},
	"\x0a\x02\x08\x01\x0a\x03\x12\x01a":                    {Rejected: 1, Message: "a"}, // merged
	"\x08\x01\x15\x01\x02\x03\x04":                         nil,                         // other fields
	"\x0a":                                                 nil,
	"<html>":                                               nil,
	"\x0a\x02\x08":                                         nil,
	"\x0a\x02\x12\x04":                                     nil,
}

func TestResponse(t *testing.T) {
	invalid := 0
	for body, want := range responses {
		err := otlp.ParseResponse([]byte(body))
		if errors.Is(err, ntconv.ErrCorrupt) && errors.Is(err, otlp.ErrUnconfirmed) && want == nil {
			invalid++
			continue
		}
		var got *otlp.PartialSuccessError
		if errors.As(err, &got) != (want != nil) || want == nil && err != nil || want != nil && *got != *want {
			t.Errorf("%q: %v, want %v", body, err, want)
		}
	}
	if invalid != 4 {
		t.Errorf("%d invalid responses, want 4", invalid)
	}
}
