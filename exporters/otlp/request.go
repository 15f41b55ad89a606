package otlp

import (
	"fmt"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
)

// MarshalRequest returns the body of an OTLP/HTTP request with the spans: an ExportTraceServiceRequest of
// trace_service.proto, whose content type is application/x-protobuf. With MarshalRequest and ParseResponse, an Uploader
// does not need the generated code of the service, which depends on gRPC. The error is that of proto.Marshal.
func MarshalRequest(spans []*tracepb.ResourceSpans) ([]byte, error) {
	return proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // TracesData has the same fields
}

// ParseResponse parses the body of a successful OTLP/HTTP response, an ExportTraceServiceResponse in protobuf. It
// returns a *PartialSuccessError if the receiver rejected spans or sent a warning. It returns an error that wraps
// ntconv.ErrCorrupt and ErrUnconfirmed if the body is not such a message: the receiver has accepted the request, but the
// number of accepted spans is unknown.
func ParseResponse(body []byte) error {
	const partialSuccess, rejectedSpans, errorMessage = 1, 1, 2
	var partial PartialSuccessError
	err := eachField(body, func(num protowire.Number, _ uint64, inner []byte) error {
		if num != partialSuccess || inner == nil {
			return nil
		}
		return eachField(inner, func(num protowire.Number, n uint64, text []byte) error {
			switch {
			case num == rejectedSpans && text == nil:
				partial.Rejected = int64(n)
			case num == errorMessage && text != nil:
				partial.Message = string(text)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("otlp: response: %w: %w: %v", ErrUnconfirmed, ntconv.ErrCorrupt, err)
	}
	if partial != (PartialSuccessError{}) {
		return &partial
	}
	return nil
}

// eachField calls f for each varint and each length-delimited field of a message. text is nil for a varint and never
// nil for a length-delimited field.
func eachField(b []byte, f func(num protowire.Number, n uint64, text []byte) error) error {
	for len(b) > 0 {
		num, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var n uint64
		var text []byte
		switch typ {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			if text, size = protowire.ConsumeBytes(b); text == nil {
				text = []byte{}
			}
		default:
			size = protowire.ConsumeFieldValue(num, typ, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if typ != protowire.VarintType && typ != protowire.BytesType {
			continue
		}
		if err := f(num, n, text); err != nil {
			return err
		}
	}
	return nil
}
