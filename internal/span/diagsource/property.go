package diagsource

import "strings"

// A property is the meaning of a key in a payload: a property of the Activity, or of the request that a listener
// reports.
type property uint8

const (
	propOther   property = iota // an unknown key: an attribute, unless the whole Activity was recorded
	propIgnored                 // a known key that is not part of a span
	propTraceID
	propSpanID
	propParentSpanID
	propID       // W3C "00-TRACEID-SPANID-FLAGS", or hierarchical
	propParentID // format of propID
	propTraceFlags
	propTraceState
	propKind
	propDisplayName
	propName // DisplayName, or Source.Name if the value is the name of the source
	propOperationName
	propStart         // text of a DateTime
	propStartTicks    // 100 ns since 0001-01-01 UTC
	propDuration      // text of a TimeSpan
	propDurationTicks // 100 ns
	propTicks         // propStartTicks or propDurationTicks, depending on its size
	propMillis        // duration in milliseconds
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
	propWhole // a property that no specification requests; it shows that the whole Activity was recorded
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

// properties maps names of properties in the form that normalize returns.
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

// requestProperties maps the names of properties of HTTP requests that listeners report, in addition to those of the
// current Activity.
var requestProperties = map[string]property{
	"traceidentifier": propRequestID, "method": propMethod, "path": propPath, "pathbase": propPathBase, "scheme": propScheme,
	"host": propHost, "port": propPort, "querystring": propQuery, "requesturi": propURL,
}

// propertyOf returns the meaning of a key. Users name the keys in an explicit specification, so case, punctuation and a
// prefix Activity are ignored: ActivityTraceId, trace_id and TraceId are the same property. Activities of sources have
// no properties of requests, so such keys are attributes.
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

// normalize converts a key to lower case and removes punctuation and spaces.
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
