package otlp

import (
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// The messages of profiles.proto (v1development).
var (
	jsonValueType = []jsonMember{member("typeStrindex", 1, jsonVarint), member("unitStrindex", 2, jsonVarint)}
	jsonSample    = []jsonMember{
		member("stackIndex", 1, jsonVarint), member("attributeIndices", 2, jsonVarints), member("linkIndex", 3, jsonVarint),
		member("values", 4, jsonVarints), member("timestampsUnixNano", 5, jsonFixeds),
	}
	jsonProfile = []jsonMember{
		object("sampleType", 1, jsonValueType), objects("samples", 2, jsonSample), member("timeUnixNano", 3, jsonFixed),
		member("durationNano", 4, jsonVarint), object("periodType", 5, jsonValueType), member("period", 6, jsonVarint),
		member("profileId", 7, jsonHex), member("droppedAttributesCount", 8, jsonVarint), member("originalPayloadFormat", 9, jsonString),
		member("originalPayload", 10, jsonBase64), member("attributeIndices", 11, jsonVarints),
	}
	jsonDictionary = []jsonMember{
		objects("mappingTable", 1, []jsonMember{
			member("memoryStart", 1, jsonVarint), member("memoryLimit", 2, jsonVarint), member("fileOffset", 3, jsonVarint),
			member("filenameStrindex", 4, jsonVarint), member("attributeIndices", 5, jsonVarints),
		}),
		objects("locationTable", 2, []jsonMember{
			member("mappingIndex", 1, jsonVarint), member("address", 2, jsonVarint), objects("lines", 3, []jsonMember{
				member("functionIndex", 1, jsonVarint), member("line", 2, jsonVarint), member("column", 3, jsonVarint),
			}),
			member("attributeIndices", 4, jsonVarints),
		}),
		objects("functionTable", 3, []jsonMember{
			member("nameStrindex", 1, jsonVarint), member("systemNameStrindex", 2, jsonVarint), member("filenameStrindex", 3, jsonVarint),
			member("startLine", 4, jsonVarint),
		}),
		objects("linkTable", 4, []jsonMember{member("traceId", 1, jsonHex), member("spanId", 2, jsonHex)}),
		{name: "stringTable", number: 5, kind: jsonString, list: true},
		objects("attributeTable", 6, []jsonMember{
			member("keyStrindex", 1, jsonVarint), object("value", 2, jsonAnyValue), member("unitStrindex", 3, jsonVarint),
		}),
		objects("stackTable", 7, []jsonMember{member("locationIndices", 1, jsonVarints)}),
	}
)

// profileJSON decodes an element of profiles and returns the number of its items, as profileMessage does.
func (d *decoder) profileJSON(text []byte) int {
	return d.messageJSON(text, jsonProfile, profileDepth, (*decoder).profileMessage)
}

// profileDepth is the depth of messages around an AnyValue in a dictionary.
const profileDepth = 4

// waitingProfiles are the elements of resourceProfiles of an object, which must wait for its dictionary.
type waitingProfiles struct {
	list       jsonio.Elements
	depth      int // of the decoder inside the object; 0 if none wait
	dictionary []byte
	ready      bool
}

// next returns the next element. The last one of an object ends the waiting.
func (w *waitingProfiles) next() (text []byte, ok bool) {
	if !w.ready {
		return nil, false
	}
	if text, ok = w.list.Next(); !ok {
		*w = waitingProfiles{}
	}
	return text, ok
}

// dictionaryField reads the value of the member dictionary.
func (j *jsonReader) dictionaryField() error {
	text, err := j.dec.ReadValue()
	if err != nil {
		return j.fail(err)
	}
	j.waiting.dictionary = append([]byte{}, text...)
	return nil
}

// profilesField reads the value of the member resourceProfiles.
func (j *jsonReader) profilesField() error {
	text, err := j.dec.ReadValue()
	if err != nil {
		return j.fail(err)
	}
	j.waiting.list, j.waiting.depth = jsonio.ElementsOf(append([]byte{}, text...)), j.dec.StackDepth()
	return nil
}

// endObject makes the profiles of an object ready, whose dictionary has been read. depth is that of the decoder after the
// object.
func (j *jsonReader) endObject(depth int) error {
	w := &j.waiting
	text := w.dictionary
	if w.dictionary = nil; w.depth != depth+1 {
		return nil
	}
	w.depth, w.ready = 0, true
	j.profiles.dict = nil
	if text == nil {
		return nil
	}
	j.json.reset(text)
	b, ok := j.protoOf(nil, jsonDictionary, "dictionary", j.limits.Depth+profileDepth)
	if !ok {
		j.corrupt("dictionary is not valid")
	}
	dict, err := readDictionary(j.decoder, b, false)
	if err != nil {
		return located(j.place.offset, "dictionary", err)
	}
	j.profiles.dict = dict
	return nil
}
