package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// AppendJSON appends a request that an Uploader got as OTLP/JSON, with the content type application/json, and returns the
// extended slice. The JSON text has no line break.
//
// OTLP/JSON (OTLP specification, "JSON Protobuf Encoding") differs from protojson in two ways: IDs are hexadecimal, and
// enumerations are numbers. As in protojson, 64-bit integers are strings, and fields with their default value are
// absent.
func AppendJSON(dst []byte, signal Signal, request []byte) []byte {
	e := jsonEncoder{b: dst}
	e.message(jsonRequests[signal], request)
	return e.b
}

// A jsonType states how the value of a field appears in JSON. The types from jsonTraces on are those of messages.
type jsonType uint8

const (
	jsonText  jsonType = iota
	jsonID             // bytes in hexadecimal
	jsonBytes          // bytes in base64
	jsonBool
	jsonNumber // integers of 32 bits and enumerations
	jsonInt    // int64 as a string
	jsonNanos  // fixed64 as a string, unsigned
	jsonDouble
	jsonPackedNumbers // packed int32
	jsonPackedInts    // packed int64 as strings
	jsonPackedNanos   // packed fixed64 as strings, unsigned
	jsonPackedUints   // packed uint64 as strings
	jsonPackedDoubles
	jsonZigzag // sint32
	jsonTraces
	jsonMetrics
	jsonResourceMetrics
	jsonScopeMetrics
	jsonMetric
	jsonGauge
	jsonSum
	jsonSummary
	jsonNumberPoint
	jsonSummaryPoint
	jsonQuantile
	jsonHistogram
	jsonHistogramPoint
	jsonExponential
	jsonExponentialPoint
	jsonBuckets
	jsonExemplar
	jsonLogs
	jsonResourceLogs
	jsonScopeLogs
	jsonRecord
	jsonResourceSpans
	jsonResource
	jsonEntity
	jsonScopeSpans
	jsonScope
	jsonSpan
	jsonEvent
	jsonLink
	jsonStatus
	jsonAttribute
	jsonValue
	jsonArray
	jsonMap
	jsonProfiles
	jsonResourceProfiles
	jsonScopeProfiles
	jsonProfile
	jsonValueType
	jsonSample
	jsonDictionary
	jsonMapping
	jsonLocation
	jsonLine
	jsonFunction
	jsonProfileLink
	jsonUnitAttribute
	jsonStack
)

// A jsonField is a field of a message.
type jsonField struct {
	key      string // the name, as it is written
	typ      jsonType
	repeated bool
}

// jsonFields are the fields of each message by their numbers.
var jsonFields = [...][]jsonField{
	jsonMetrics:         {1: {`"resourceMetrics":`, jsonResourceMetrics, true}},
	jsonResourceMetrics: {1: {`"resource":`, jsonResource, false}, {`"scopeMetrics":`, jsonScopeMetrics, true}, {`"schemaUrl":`, jsonText, false}},
	jsonScopeMetrics:    {1: {`"scope":`, jsonScope, false}, {`"metrics":`, jsonMetric, true}, {`"schemaUrl":`, jsonText, false}},
	jsonMetric: {
		1: {`"name":`, jsonText, false}, {`"description":`, jsonText, false}, {`"unit":`, jsonText, false},
		5: {`"gauge":`, jsonGauge, false}, 7: {`"sum":`, jsonSum, false}, 9: {`"histogram":`, jsonHistogram, false}, {`"exponentialHistogram":`, jsonExponential, false},
		11: {`"summary":`, jsonSummary, false}, {`"metadata":`, jsonAttribute, true},
	},
	jsonGauge:   {1: {`"dataPoints":`, jsonNumberPoint, true}},
	jsonSum:     {1: {`"dataPoints":`, jsonNumberPoint, true}, {`"aggregationTemporality":`, jsonNumber, false}, {`"isMonotonic":`, jsonBool, false}},
	jsonSummary: {1: {`"dataPoints":`, jsonSummaryPoint, true}},
	jsonNumberPoint: {
		2: {`"startTimeUnixNano":`, jsonNanos, false}, {`"timeUnixNano":`, jsonNanos, false}, {`"asDouble":`, jsonDouble, false},
		5: {`"exemplars":`, jsonExemplar, true}, {`"asInt":`, jsonInt, false}, {`"attributes":`, jsonAttribute, true}, {`"flags":`, jsonNumber, false},
	},
	jsonHistogram:   {1: {`"dataPoints":`, jsonHistogramPoint, true}, {`"aggregationTemporality":`, jsonNumber, false}},
	jsonExponential: {1: {`"dataPoints":`, jsonExponentialPoint, true}, {`"aggregationTemporality":`, jsonNumber, false}},
	jsonHistogramPoint: {
		2: {`"startTimeUnixNano":`, jsonNanos, false}, {`"timeUnixNano":`, jsonNanos, false}, {`"count":`, jsonNanos, false}, {`"sum":`, jsonDouble, false},
		{`"bucketCounts":`, jsonPackedNanos, false}, {`"explicitBounds":`, jsonPackedDoubles, false}, {`"exemplars":`, jsonExemplar, true},
		{`"attributes":`, jsonAttribute, true}, {`"flags":`, jsonNumber, false}, {`"min":`, jsonDouble, false}, {`"max":`, jsonDouble, false},
	},
	jsonExponentialPoint: {
		1: {`"attributes":`, jsonAttribute, true}, {`"startTimeUnixNano":`, jsonNanos, false}, {`"timeUnixNano":`, jsonNanos, false},
		{`"count":`, jsonNanos, false}, {`"sum":`, jsonDouble, false}, {`"scale":`, jsonZigzag, false}, {`"zeroCount":`, jsonNanos, false},
		{`"positive":`, jsonBuckets, false}, {`"negative":`, jsonBuckets, false}, {`"flags":`, jsonNumber, false}, {`"exemplars":`, jsonExemplar, true},
		{`"min":`, jsonDouble, false}, {`"max":`, jsonDouble, false}, {`"zeroThreshold":`, jsonDouble, false},
	},
	jsonBuckets: {1: {`"offset":`, jsonZigzag, false}, {`"bucketCounts":`, jsonPackedUints, false}},
	jsonExemplar: {
		2: {`"timeUnixNano":`, jsonNanos, false}, {`"asDouble":`, jsonDouble, false}, {`"spanId":`, jsonID, false}, {`"traceId":`, jsonID, false},
		{`"asInt":`, jsonInt, false}, {`"filteredAttributes":`, jsonAttribute, true},
	},
	jsonSummaryPoint: {
		2: {`"startTimeUnixNano":`, jsonNanos, false}, {`"timeUnixNano":`, jsonNanos, false}, {`"count":`, jsonNanos, false},
		{`"sum":`, jsonDouble, false}, {`"quantileValues":`, jsonQuantile, true}, {`"attributes":`, jsonAttribute, true}, {`"flags":`, jsonNumber, false},
	},
	jsonQuantile:     {1: {`"quantile":`, jsonDouble, false}, {`"value":`, jsonDouble, false}},
	jsonLogs:         {1: {`"resourceLogs":`, jsonResourceLogs, true}},
	jsonResourceLogs: {1: {`"resource":`, jsonResource, false}, {`"scopeLogs":`, jsonScopeLogs, true}, {`"schemaUrl":`, jsonText, false}},
	jsonScopeLogs:    {1: {`"scope":`, jsonScope, false}, {`"logRecords":`, jsonRecord, true}, {`"schemaUrl":`, jsonText, false}},
	jsonRecord: {
		1: {`"timeUnixNano":`, jsonNanos, false}, {`"severityNumber":`, jsonNumber, false}, {`"severityText":`, jsonText, false},
		5: {`"body":`, jsonValue, false}, {`"attributes":`, jsonAttribute, true}, {`"droppedAttributesCount":`, jsonNumber, false},
		{`"flags":`, jsonNumber, false}, {`"traceId":`, jsonID, false}, {`"spanId":`, jsonID, false},
		{`"observedTimeUnixNano":`, jsonNanos, false}, {`"eventName":`, jsonText, false},
	},
	jsonProfiles: {1: {`"resourceProfiles":`, jsonResourceProfiles, true}, {`"dictionary":`, jsonDictionary, false}},
	jsonResourceProfiles: {
		1: {`"resource":`, jsonResource, false}, {`"scopeProfiles":`, jsonScopeProfiles, true}, {`"schemaUrl":`, jsonText, false},
	},
	jsonScopeProfiles: {1: {`"scope":`, jsonScope, false}, {`"profiles":`, jsonProfile, true}, {`"schemaUrl":`, jsonText, false}},
	jsonProfile: {
		1: {`"sampleType":`, jsonValueType, false}, {`"samples":`, jsonSample, true}, {`"timeUnixNano":`, jsonNanos, false},
		{`"durationNano":`, jsonNanos, false}, {`"periodType":`, jsonValueType, false}, {`"period":`, jsonInt, false},
		{`"profileId":`, jsonID, false}, {`"droppedAttributesCount":`, jsonNumber, false}, {`"originalPayloadFormat":`, jsonText, false},
		{`"originalPayload":`, jsonBytes, false}, {`"attributeIndices":`, jsonPackedNumbers, false},
	},
	jsonValueType: {1: {`"typeStrindex":`, jsonNumber, false}, {`"unitStrindex":`, jsonNumber, false}},
	jsonSample: {
		1: {`"stackIndex":`, jsonNumber, false}, {`"attributeIndices":`, jsonPackedNumbers, false}, {`"linkIndex":`, jsonNumber, false},
		{`"values":`, jsonPackedInts, false}, {`"timestampsUnixNano":`, jsonPackedNanos, false},
	},
	jsonDictionary: {
		1: {`"mappingTable":`, jsonMapping, true}, {`"locationTable":`, jsonLocation, true}, {`"functionTable":`, jsonFunction, true},
		{`"linkTable":`, jsonProfileLink, true}, {`"stringTable":`, jsonText, true}, {`"attributeTable":`, jsonUnitAttribute, true},
		{`"stackTable":`, jsonStack, true},
	},
	jsonMapping: {
		1: {`"memoryStart":`, jsonNanos, false}, {`"memoryLimit":`, jsonNanos, false}, {`"fileOffset":`, jsonNanos, false},
		{`"filenameStrindex":`, jsonNumber, false}, {`"attributeIndices":`, jsonPackedNumbers, false},
	},
	jsonLocation: {
		1: {`"mappingIndex":`, jsonNumber, false}, {`"address":`, jsonNanos, false}, {`"lines":`, jsonLine, true},
		{`"attributeIndices":`, jsonPackedNumbers, false},
	},
	jsonLine: {1: {`"functionIndex":`, jsonNumber, false}, {`"line":`, jsonInt, false}, {`"column":`, jsonInt, false}},
	jsonFunction: {
		1: {`"nameStrindex":`, jsonNumber, false}, {`"systemNameStrindex":`, jsonNumber, false}, {`"filenameStrindex":`, jsonNumber, false},
		{`"startLine":`, jsonInt, false},
	},
	jsonProfileLink:   {1: {`"traceId":`, jsonID, false}, {`"spanId":`, jsonID, false}},
	jsonUnitAttribute: {1: {`"keyStrindex":`, jsonNumber, false}, {`"value":`, jsonValue, false}, {`"unitStrindex":`, jsonNumber, false}},
	jsonStack:         {1: {`"locationIndices":`, jsonPackedNumbers, false}},
	jsonTraces:        {1: {`"resourceSpans":`, jsonResourceSpans, true}},
	jsonResourceSpans: {1: {`"resource":`, jsonResource, false}, {`"scopeSpans":`, jsonScopeSpans, true}, {`"schemaUrl":`, jsonText, false}},
	jsonResource: {
		1: {`"attributes":`, jsonAttribute, true}, {`"droppedAttributesCount":`, jsonNumber, false}, {`"entityRefs":`, jsonEntity, true},
	},
	jsonEntity: {
		1: {`"schemaUrl":`, jsonText, false}, {`"type":`, jsonText, false}, {`"idKeys":`, jsonText, true}, {`"descriptionKeys":`, jsonText, true},
	},
	jsonScopeSpans: {1: {`"scope":`, jsonScope, false}, {`"spans":`, jsonSpan, true}, {`"schemaUrl":`, jsonText, false}},
	jsonScope: {
		1: {`"name":`, jsonText, false}, {`"version":`, jsonText, false}, {`"attributes":`, jsonAttribute, true},
		{`"droppedAttributesCount":`, jsonNumber, false},
	},
	jsonSpan: {
		1: {`"traceId":`, jsonID, false}, {`"spanId":`, jsonID, false}, {`"traceState":`, jsonText, false}, {`"parentSpanId":`, jsonID, false},
		{`"name":`, jsonText, false}, {`"kind":`, jsonNumber, false}, {`"startTimeUnixNano":`, jsonNanos, false},
		{`"endTimeUnixNano":`, jsonNanos, false}, {`"attributes":`, jsonAttribute, true}, {`"droppedAttributesCount":`, jsonNumber, false},
		{`"events":`, jsonEvent, true}, {`"droppedEventsCount":`, jsonNumber, false}, {`"links":`, jsonLink, true},
		{`"droppedLinksCount":`, jsonNumber, false}, {`"status":`, jsonStatus, false}, {`"flags":`, jsonNumber, false},
	},
	jsonEvent: {
		1: {`"timeUnixNano":`, jsonNanos, false}, {`"name":`, jsonText, false}, {`"attributes":`, jsonAttribute, true},
		{`"droppedAttributesCount":`, jsonNumber, false},
	},
	jsonLink: {
		1: {`"traceId":`, jsonID, false}, {`"spanId":`, jsonID, false}, {`"traceState":`, jsonText, false}, {`"attributes":`, jsonAttribute, true},
		{`"droppedAttributesCount":`, jsonNumber, false}, {`"flags":`, jsonNumber, false},
	},
	jsonStatus:    {2: {`"message":`, jsonText, false}, {`"code":`, jsonNumber, false}},
	jsonAttribute: {1: {`"key":`, jsonText, false}, {`"value":`, jsonValue, false}},
	jsonValue: {
		1: {`"stringValue":`, jsonText, false}, {`"boolValue":`, jsonBool, false}, {`"intValue":`, jsonInt, false}, {`"doubleValue":`, jsonDouble, false},
		{`"arrayValue":`, jsonArray, false}, {`"kvlistValue":`, jsonMap, false}, {`"bytesValue":`, jsonBytes, false},
	},
	jsonArray: {1: {`"values":`, jsonValue, true}},
	jsonMap:   {1: {`"values":`, jsonAttribute, true}},
}

// jsonRequests are the requests of each signal.
var jsonRequests = [NumSignals]jsonType{Traces: jsonTraces, Logs: jsonLogs, Metrics: jsonMetrics, Profiles: jsonProfiles}

// Numbers of fields of a span: its flags have the highest number, but come before its name in JSON.
const (
	spanParent = 4
	spanFlags  = 16
)

// A jsonEncoder appends JSON.
type jsonEncoder struct {
	b     []byte
	comma bool // the current object or array already has a member or element
}

// separate appends a comma unless the next member or element is the first.
func (e *jsonEncoder) separate() {
	if e.comma {
		e.b = append(e.b, ',')
	}
	e.comma = true
}

// open begins an object or array.
func (e *jsonEncoder) open(c byte) { e.b, e.comma = append(e.b, c), false }

// close ends an object or array.
func (e *jsonEncoder) close(c byte) { e.b, e.comma = append(e.b, c), true }

// message appends a message, in which the elements of a repeated field are adjacent.
func (e *jsonEncoder) message(typ jsonType, b []byte) {
	e.open('{')
	list := 0     // number of the repeated field whose array is open
	flagsAt := -1 // where the flags of a span belong
	fields := jsonFields[typ]
	for len(b) > 0 {
		number, n, text, rest := bin.CutField(b)
		b = rest
		if number >= len(fields) || fields[number].key == "" {
			continue
		}
		if typ == jsonSpan && number > spanParent {
			if flagsAt < 0 {
				flagsAt = len(e.b)
			}
			if number == spanFlags {
				e.flags(flagsAt, n)
				continue
			}
		}
		field := &fields[number]
		if list != number {
			if list != 0 {
				e.close(']')
				list = 0
			}
			e.key(field)
			if field.repeated {
				e.open('[')
				list = number
			}
		}
		if field.repeated {
			e.separate()
		}
		e.value(field.typ, n, text)
	}
	if list != 0 {
		e.close(']')
	}
	e.close('}')
}

// flags inserts the flags of a span at an offset of e.b, between two members.
func (e *jsonEncoder) flags(at int, n uint64) {
	var text [32]byte
	member := strconv.AppendUint(append(append(text[:0], ','), jsonFields[jsonSpan][spanFlags].key...), n, 10)
	switch {
	case e.b[at-1] != '{':
	case at == len(e.b): // the only member
		member, e.comma = member[1:], true
	default:
		member = append(member[1:], ',')
	}
	e.b = slices.Insert(e.b, at, member...)
}

// key begins a member.
func (e *jsonEncoder) key(f *jsonField) {
	e.separate()
	e.b = append(e.b, f.key...)
}

// value appends the value of a field.
func (e *jsonEncoder) value(typ jsonType, n uint64, text []byte) {
	switch typ {
	case jsonText:
		e.b = jsonio.AppendQuoted(e.b, text) // valid UTF-8: encoder ensures that
	case jsonID:
		e.b = append(hex.AppendEncode(append(e.b, '"'), text), '"')
	case jsonBytes:
		e.b = append(base64.StdEncoding.AppendEncode(append(e.b, '"'), text), '"')
	case jsonBool:
		e.b = strconv.AppendBool(e.b, n != 0)
	case jsonNumber:
		e.b = strconv.AppendInt(e.b, int64(n), 10)
	case jsonInt:
		e.b = append(strconv.AppendInt(append(e.b, '"'), int64(n), 10), '"')
	case jsonNanos:
		e.b = append(strconv.AppendUint(append(e.b, '"'), n, 10), '"')
	case jsonDouble:
		e.b = jsonio.AppendDouble(e.b, math.Float64frombits(n))
	case jsonZigzag:
		e.b = strconv.AppendInt(e.b, int64(n>>1)^-int64(n&1), 10)
	case jsonPackedNumbers, jsonPackedInts, jsonPackedNanos, jsonPackedUints, jsonPackedDoubles:
		e.packed(typ, text)
	case jsonAttribute:
		if !e.textAttribute(text) {
			e.message(typ, text)
		}
	default:
		e.message(typ, text)
	}
}

// jsonPacked are the types of the elements of packed lists.
var jsonPacked = [...]jsonType{
	jsonPackedNumbers: jsonNumber, jsonPackedInts: jsonInt, jsonPackedNanos: jsonNanos, jsonPackedUints: jsonNanos, jsonPackedDoubles: jsonDouble,
}

// packed appends a packed list of numbers.
func (e *jsonEncoder) packed(typ jsonType, b []byte) {
	e.open('[')
	for len(b) > 0 {
		e.separate()
		if single := jsonPacked[typ]; typ == jsonPackedNanos || typ == jsonPackedDoubles {
			if len(b) < 8 {
				break
			}
			e.value(single, binary.LittleEndian.Uint64(b), nil)
			b = b[8:]
			continue
		}
		n, size := binary.Uvarint(b)
		if size <= 0 {
			break
		}
		b = b[size:]
		e.value(jsonPacked[typ], n, nil)
	}
	e.close(']')
}

// textAttribute appends an attribute of less than 128 bytes with a key and a string, a fast path for most of a request:
// all its lengths have one byte. It returns false for other attributes.
func (e *jsonEncoder) textAttribute(b []byte) bool {
	const keyTag, valueTag, stringTag = 1<<3 | 2, 2<<3 | 2, 1<<3 | 2
	if len(b) < 6 || len(b) > 0x7f || b[0] != keyTag || b[1] == 0 || int(b[1]) > len(b)-6 {
		return false
	}
	n := 2 + int(b[1])
	key, v := b[2:n], b[n:]
	if v[0] != valueTag || int(v[1]) != len(v)-2 || v[2] != stringTag || int(v[3]) != len(v)-4 {
		return false
	}
	e.b = jsonio.AppendQuoted(append(e.b, `{"key":`...), key)
	e.b = jsonio.AppendQuoted(append(e.b, `,"value":{"stringValue":`...), v[4:])
	e.b, e.comma = append(e.b, "}}"...), true
	return true
}
