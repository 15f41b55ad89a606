package otlp_test

import (
	"errors"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
)

// TestRequest checks the body of a request against the generated code of the service.
func TestRequest(t *testing.T) {
	want := []*tracepb.ResourceSpans{{SchemaUrl: "a", ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "b"}}}}}, {}}
	body, err := otlp.MarshalRequest(want)
	if err != nil {
		t.Fatal(err)
	}
	var got coltracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &got); err != nil || !proto.Equal(&got, &coltracepb.ExportTraceServiceRequest{ResourceSpans: want}) {
		t.Errorf("%v, got %v", err, &got)
	}
}

func responses() (all [][]byte) {
	for _, p := range []*coltracepb.ExportTracePartialSuccess{
		nil, {}, {RejectedSpans: 3}, {ErrorMessage: "slow down"}, {RejectedSpans: 1 << 40, ErrorMessage: "all of it"}, {RejectedSpans: -1},
	} {
		b, _ := proto.Marshal(&coltracepb.ExportTraceServiceResponse{PartialSuccess: p})
		all = append(all, b)
	}
	return append(all, []byte{0x0a}, []byte{0x08, 1}, []byte{0x0d, 1, 2, 3, 4}, []byte{0x0a, 2, 0x08, 1, 0x0a, 2, 0x12, 0}, []byte("<html>"))
}

// checkResponse compares ParseResponse with the generated code of the service.
func checkResponse(t *testing.T, body []byte) {
	var want coltracepb.ExportTraceServiceResponse
	invalid := proto.Unmarshal(body, &want) != nil
	err := otlp.ParseResponse(body)
	var partial *otlp.PartialSuccessError
	switch {
	case errors.Is(err, ntconv.ErrCorrupt):
		if !invalid {
			t.Errorf("%x: %v", body, err)
		}
	case invalid: // strings that are not UTF-8, and groups, are accepted
	case err == nil:
		if want.GetPartialSuccess().GetRejectedSpans() != 0 || want.GetPartialSuccess().GetErrorMessage() != "" {
			t.Errorf("%x: partial success %v is missing", body, want.PartialSuccess)
		}
	case !errors.As(err, &partial):
		t.Errorf("%x: %v", body, err)
	case partial.Message != want.GetPartialSuccess().GetErrorMessage():
		t.Errorf("%x: message %q", body, partial.Message)
	case partial.Rejected != want.GetPartialSuccess().GetRejectedSpans():
		t.Errorf("%x: %d rejected, want %d", body, partial.Rejected, want.GetPartialSuccess().GetRejectedSpans())
	}
}

func TestResponse(t *testing.T) {
	partial, corrupt := 0, 0
	for _, body := range responses() {
		checkResponse(t, body)
		var p *otlp.PartialSuccessError
		switch err := otlp.ParseResponse(body); {
		case errors.As(err, &p):
			partial++
		case errors.Is(err, ntconv.ErrCorrupt):
			corrupt++
		}
	}
	if partial != 5 || corrupt != 2 {
		t.Errorf("%d partial successes, %d corrupt responses", partial, corrupt)
	}
}

func FuzzResponse(f *testing.F) {
	for _, body := range responses() {
		f.Add(body)
	}
	f.Fuzz(checkResponse)
}
