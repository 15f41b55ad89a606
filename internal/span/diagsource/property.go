package diagsource

import "strings"

// property is what a key of a payload is about: a property of the Activity, or of the request that a listener reports.
type property uint8

const (
	propOther   property = iota // the key is not known: an attribute, unless the whole Activity was recorded
	propIgnored                 // known, and no part of a span
	propTraceID
	propSpanID
	propParentSpanID
	propID       // W3C "00-TRACEID-SPANID-FLAGS", or hierarchical
	propParentID // as propID
	propTraceFlags
	propTraceState
	propKind
	propDisplayName
	propName // DisplayName, or Source.Name if it is the name of the source
	propOperationName
	propStart         // text of a DateTime
	propStartTicks    // 100 ns since 0001-01-01 UTC
	propDuration      // text of a TimeSpan
	propDurationTicks // 100 ns
	propTicks         // one of the two, by its size
	propMillis        // duration
	propStatus
	propStatusDescription
	propTags
	propSource
	propSourceVersion
	propSourceTags
	propSchemaURL
	propEvents
	propLinks
	propRemoteParent
	propRecorded
	propAllData
	propWhole // a property that no specification asks for: the Activity was recorded as a whole
	propRequestID
	propMethod
	propPath
	propPathBase
	propScheme
	propHost
	propPort
	propQuery
	propURL
	propStatusCode
	numProperties
)

// properties are the names of properties as normalize writes them.
var properties = map[string]property{
	"traceid": propTraceID, "spanid": propSpanID, "parentspanid": propParentSpanID,
	"id": propID, "parentid": propParentID, "rootid": propIgnored,
	"traceflags": propTraceFlags, "flags": propTraceFlags,
	"tracestatestring": propTraceState, "tracestate": propTraceState,
	"kind": propKind, "displayname": propDisplayName, "name": propName, "operationname": propOperationName,
	"start": propStart, "starttime": propStart, "starttimeutc": propStart, "starttimeticks": propStart, "startticks": propStart,
	"starttimeutcticks": propStart, "startutcticks": propStart,
	"duration": propDuration, "durationticks": propDuration, "ticks": propTicks,
	"totalmilliseconds": propMillis, "durationms": propMillis, "durationmilliseconds": propMillis,
	"status": propStatus, "statuscode": propStatusCode, "statusdescription": propStatusDescription, "statusmessage": propStatusDescription,
	"tags": propTags, "tagobjects": propTags,
	"source": propSource, "sourcename": propSource,
	"sourceversion": propSourceVersion, "version": propSourceVersion, "scopeversion": propSourceVersion,
	"sourcetags": propSourceTags, "scopetags": propSourceTags, "sourceattributes": propSourceTags,
	"schemaurl": propSchemaURL, "telemetryschemaurl": propSchemaURL, "sourceschemaurl": propSchemaURL, "sourcetelemetryschemaurl": propSchemaURL,
	"events": propEvents, "links": propLinks, "baggage": propIgnored,
	"hasremoteparent": propRemoteParent, "remoteparent": propRemoteParent, "recorded": propRecorded, "isalldatarequested": propAllData,
	"idformat": propIgnored, "isstopped": propWhole, "traceidgenerator": propWhole, "forcedefaultidformat": propWhole, "defaultidformat": propWhole,
	"w3cidflagsset": propWhole, "context": propIgnored, "parent": propIgnored, "current": propWhole,
}

// requestProperties are names of what listeners report of HTTP requests, in addition to properties of the current
// Activity.
var requestProperties = map[string]property{
	"traceidentifier": propRequestID, "method": propMethod, "path": propPath, "pathbase": propPathBase, "scheme": propScheme,
	"host": propHost, "port": propPort, "querystring": propQuery, "requesturi": propURL,
}

// propertyOf returns what a key is about. Users name the keys of an explicit specification, so case, punctuation, and a
// prefix Activity are ignored: ActivityTraceId, trace_id and TraceId are the same property. An Activity of a source has
// no properties of requests: keys with their names are attributes.
func propertyOf(key string, listener bool) property {
	name := normalize(key)
	for range 2 {
		if p, ok := properties[name]; ok {
			return p
		}
		if p, ok := requestProperties[name]; ok && listener {
			return p
		}
		name = strings.TrimPrefix(name, "activity")
	}
	return propOther
}

// normalize returns the ASCII letters and digits of a key in lower case, and other characters that are not punctuation.
func normalize(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == '.' || r == ' ':
			return -1
		}
		return r
	}, key)
}
