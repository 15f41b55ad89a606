package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/span"
)

// jsonOf returns what encoding/json decodes of a message in OTLP/JSON, from the descriptor of the message alone.
func jsonOf(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !f.IsList() {
			out[f.JSONName()] = valueOf(f, v)
			return true
		}
		list := []any{}
		for i := range v.List().Len() {
			list = append(list, valueOf(f, v.List().Get(i)))
		}
		out[f.JSONName()] = list
		return true
	})
	return out
}

func valueOf(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return jsonOf(v.Message())
	case protoreflect.BytesKind:
		if strings.HasSuffix(string(f.Name()), "_id") {
			return hex.EncodeToString(v.Bytes())
		}
		return base64.StdEncoding.EncodeToString(v.Bytes())
	case protoreflect.EnumKind:
		return json.Number(strconv.Itoa(int(v.Enum())))
	case protoreflect.Int64Kind, protoreflect.Fixed64Kind:
		return v.String()
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return json.Number(v.String())
	case protoreflect.DoubleKind:
		switch f := v.Float(); {
		case math.IsNaN(f):
			return "NaN"
		case math.IsInf(f, 0):
			return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
		}
		return json.Number(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	}
	return v.Interface()
}

// decode returns the only value of a JSON text.
func decode(t rapid.TB, text []byte) (v map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// TestJSON checks the encoder against encoding/json and the descriptors of OTLP's messages.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := requestOf(new(batch), spanLists().Draw(t, "spans"))
		text := AppendJSON(nil, Traces, request)
		got := decode(t, text)
		want := jsonOf(decodeProto(t, request).ProtoReflect())
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %v\nwant %v\ntext %s", got, want, text)
		}
		if bytes.ContainsAny(text, "\n\r") {
			t.Fatalf("more than one line: %s", text)
		}
	})
}

// No bytes make the encoder panic or write anything but one JSON object.
func FuzzJSON(f *testing.F) {
	f.Add(requestOf(new(batch), []*span.Span{{Name: "a", Flags: 1, Scope: scopes[0], Resource: new(span.Resource)}}))
	f.Fuzz(func(t *testing.T, request []byte) {
		decode(t, AppendJSON(nil, Traces, request))
	})
}
