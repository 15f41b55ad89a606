package perfetto

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// Field numbers of trace.proto, trace_packet.proto and trace_packet_defaults.proto.
const (
	tracePacket = 1

	packetClockSnapshot    = 6
	packetTimestamp        = 8
	packetSequence         = 10 // trusted_packet_sequence_id
	packetTrackEvent       = 11
	packetInternedData     = 12
	packetSequenceFlags    = 13
	packetThreadDescriptor = 44
	packetCompressed       = 50 // compressed_packets
	packetStreamingProfile = 54
	packetDefaults         = 59
	packetTrackDescriptor  = 60
	packetStackSample      = 135

	defaultsClock       = 58 // timestamp_clock_id
	defaultsStackSample = 100

	// flagStateCleared is SEQ_INCREMENTAL_STATE_CLEARED: earlier interned data and defaults of the sequence become
	// invalid. Packets that refer to them do not set SEQ_NEEDS_INCREMENTAL_STATE: it makes readers skip packets after a
	// loss, and a file has no losses.
	flagStateCleared = 1
)

// Field numbers and values of clock_snapshot.proto.
const (
	snapshotClock = 1

	clockID          = 1
	clockTimestamp   = 2
	clockIncremental = 3

	clockRealtime  = 1
	clockMonotonic = 3
	clockBoottime  = 6
	clockSequence  = 64 // first clock ID that is local to a sequence
)

// Field numbers and values of track_descriptor.proto and the messages in it.
const (
	trackUUID          = 1
	trackName          = 2
	trackProcess       = 3
	trackThread        = 4
	trackParent        = 5
	trackCounter       = 8
	trackChildOrdering = 11
	trackOrderRank     = 12

	orderingExplicit = 3

	processPID     = 1
	processCmdline = 2
	processName    = 6

	threadPID       = 1
	threadTID       = 2
	threadName      = 5
	threadReference = 6 // reference_timestamp_us

	counterUnit     = 3
	counterUnitName = 6

	unitNanoseconds = 1
	unitCount       = 2
	unitBytes       = 3
)

// Field numbers and values of track_event.proto.
const (
	eventCategoryIID     = 3
	eventAnnotation      = 4
	eventType            = 9
	eventNameIID         = 10
	eventTrack           = 11
	eventCategory        = 22
	eventName            = 23
	eventCounterValue    = 30
	eventDoubleValue     = 44
	eventFlow            = 47
	eventTerminatingFlow = 48
	eventCallstackIID    = 56

	typeSliceBegin = 1
	typeSliceEnd   = 2
	typeInstant    = 3
	typeCounter    = 4
)

// Field numbers of debug_annotation.proto.
const (
	annotationNameIID    = 1
	annotationBool       = 2
	annotationUint       = 3
	annotationInt        = 4
	annotationDouble     = 5
	annotationString     = 6
	annotationName       = 10
	annotationDictEntry  = 11
	annotationArrayValue = 12
	annotationStringIID  = 17
)

// Field numbers of interned_data.proto, and of the messages in it, which profile_common.proto describes.
const (
	internedCategories   = 1
	internedNames        = 2
	internedArgNames     = 3 // debug_annotation_names
	internedFunctions    = 5
	internedFrames       = 6
	internedCallstacks   = 7
	internedBuildIDs     = 16
	internedMappingPaths = 17
	internedSourcePaths  = 18
	internedMappings     = 19
	internedStringValues = 29 // debug_annotation_string_values

	entryIID  = 1
	entryText = 2 // name of EventCategory, EventName and DebugAnnotationName; str of InternedString

	mappingBuildID  = 2
	mappingPath     = 7
	frameFunction   = 2
	frameMapping    = 3
	frameRelPC      = 4
	frameSourcePath = 5
	frameLine       = 6
	callstackFrame  = 2
)

// Field numbers and values of StreamingProfilePacket (profile_packet.proto) and of stack_sample.proto.
const (
	streamingCallstack = 1
	streamingDelta     = 2 // timestamp_delta_us

	sampleTask            = 1
	sampleCallstackIID    = 6
	samplePrimaryWeight   = 11
	sampleFollowerWeights = 14
	taskPID               = 2
	taskTID               = 3

	sampleDefaultsSource   = 1
	sampleDefaultsPrimary  = 2
	sampleDefaultsFollower = 3
	descriptorName         = 2
	descriptorUnit         = 3
	descriptorUnitText     = 4

	sampleUnitNanoseconds = 1
	sampleUnitBytes       = 4
	sampleUnitCount       = 9
)

func appendVarint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

func appendTag(dst []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(dst, field<<3|wire)
}

func appendUint(dst []byte, field, v uint64) []byte {
	return binary.AppendUvarint(appendTag(dst, field, wireVarint), v)
}

func appendFixed64(dst []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(dst, field, wireFixed64), v)
}

func appendDouble(dst []byte, field uint64, v float64) []byte {
	return appendFixed64(dst, field, math.Float64bits(v))
}

func appendBytes[B []byte | string](dst []byte, field uint64, b B) []byte {
	dst = binary.AppendUvarint(appendTag(dst, field, wireBytes), uint64(len(b)))
	return append(dst, b...)
}

// appendText appends a string field. Invalid UTF-8 becomes U+FFFD, because a protobuf string must be valid.
func appendText(dst []byte, field uint64, s string) []byte { return appendBytes(dst, field, valid(s)) }

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// openMessage appends the tag of a message field and one byte for the length. It returns the position of the message,
// which the caller passes to closeMessage after it has appended the fields.
func openMessage(dst []byte, field uint64) ([]byte, int) {
	dst = append(appendTag(dst, field, wireBytes), 0)
	return dst, len(dst)
}

// closeMessage sets the length of the message in dst[start:]. It moves the message if its length needs more than the
// reserved byte. Messages must be closed from the innermost to the outermost.
func closeMessage(dst []byte, start int) []byte {
	size := len(dst) - start
	if size < 0x80 {
		dst[start-1] = byte(size)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	dst = slices.Grow(dst, n-1)[:len(dst)+n-1]
	copy(dst[start+n-1:], dst[start:start+size])
	copy(dst[start-1:], length[:n])
	return dst
}
