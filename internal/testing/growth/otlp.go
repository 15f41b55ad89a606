package growth

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"regexp"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// otlpInputs returns the inputs of spans, each as protobuf and as JSON.
func otlpInputs() (list []Input) {
	for _, in := range textInputs("otlp-") {
		message := in
		message.Ext = "binpb"
		message.Write = func(w io.Writer, n int) error {
			var text bytes.Buffer
			if err := in.Write(&text, n); err != nil {
				return err
			}
			var data tracepb.TracesData
			if err := protojson.Unmarshal(hexID.ReplaceAllFunc(text.Bytes(), base64ID), &data); err != nil {
				return err
			}
			b, err := proto.Marshal(&data)
			if err == nil {
				_, err = w.Write(b)
			}
			return err
		}
		in.Name = "otlp-json-" + strings.TrimPrefix(in.Name, "otlp-")
		list = append(list, message, in)
	}
	return list
}

var hexID = regexp.MustCompile(`(?i)"(trace|span|parentSpan)Id":"[0-9a-f]*"`)

// base64ID converts an ID from the form of OTLP/JSON to that of protobuf's JSON.
func base64ID(member []byte) []byte {
	name, id, _ := strings.Cut(string(member), ":")
	b, err := hex.DecodeString(strings.Trim(id, `"`))
	if err != nil {
		panic(err) // a mistake in testdata/inputs.txt
	}
	return []byte(name + `:"` + base64.StdEncoding.EncodeToString(b) + `"`)
}
