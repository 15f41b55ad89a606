package diagsource

import (
	"net"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// request appends the HTTP request that a listener reported as attributes with the keys of semantic conventions. The
// keys in a specification are the last names of the property paths: Request.Method is Method.
func (d *Decoder) request(a *activity) {
	v := &d.values
	text := func(p property) string { return d.strings.of(v.of(p)) }
	if s := text(propMethod); s != "" {
		d.attribute(a, "http.request.method", s)
	}
	if s := text(propScheme); s != "" {
		d.attribute(a, "url.scheme", s)
	}
	host, port := text(propHost), text(propPort)
	if h, p, err := net.SplitHostPort(host); err == nil && port == "" {
		host, port = h, p
	}
	if host != "" {
		d.attribute(a, "server.address", host)
	}
	if port != "" {
		d.attribute(a, "server.port", port)
	}
	if s := text(propPathBase) + text(propPath); s != "" {
		d.attribute(a, "url.path", s)
	}
	if s := strings.TrimPrefix(text(propQuery), "?"); s != "" {
		d.attribute(a, "url.query", s)
	}
	if s := text(propURL); s != "" {
		d.attribute(a, "url.full", s)
	}
	if s := text(propStatusCode); s != "" {
		if n, ok := statusCodes[s]; ok {
			s = strconv.Itoa(n)
		}
		d.attribute(a, "http.response.status_code", s)
	}
}

// statusCodes maps the names that .NET writes for HTTP status codes (System.Net.HttpStatusCode). .NET writes codes
// without a name as numbers.
var statusCodes = map[string]int{
	"Continue": 100, "SwitchingProtocols": 101, "Processing": 102, "EarlyHints": 103,
	"OK": 200, "Created": 201, "Accepted": 202, "NonAuthoritativeInformation": 203, "NoContent": 204, "ResetContent": 205, "PartialContent": 206,
	"MultiStatus": 207, "AlreadyReported": 208, "IMUsed": 226,
	"MultipleChoices": 300, "Ambiguous": 300, "MovedPermanently": 301, "Moved": 301, "Found": 302, "Redirect": 302, "SeeOther": 303,
	"RedirectMethod": 303, "NotModified": 304, "UseProxy": 305, "Unused": 306, "TemporaryRedirect": 307, "RedirectKeepVerb": 307,
	"PermanentRedirect": 308,
	"BadRequest":        400, "Unauthorized": 401, "PaymentRequired": 402, "Forbidden": 403, "NotFound": 404, "MethodNotAllowed": 405,
	"NotAcceptable": 406, "ProxyAuthenticationRequired": 407, "RequestTimeout": 408, "Conflict": 409, "Gone": 410, "LengthRequired": 411,
	"PreconditionFailed": 412, "RequestEntityTooLarge": 413, "RequestUriTooLong": 414, "UnsupportedMediaType": 415,
	"RequestedRangeNotSatisfiable": 416, "ExpectationFailed": 417, "MisdirectedRequest": 421, "UnprocessableEntity": 422,
	"UnprocessableContent": 422, "Locked": 423, "FailedDependency": 424, "UpgradeRequired": 426, "PreconditionRequired": 428,
	"TooManyRequests": 429, "RequestHeaderFieldsTooLarge": 431, "UnavailableForLegalReasons": 451,
	"InternalServerError": 500, "NotImplemented": 501, "BadGateway": 502, "ServiceUnavailable": 503, "GatewayTimeout": 504,
	"HttpVersionNotSupported": 505, "VariantAlsoNegotiates": 506, "InsufficientStorage": 507, "LoopDetected": 508, "NotExtended": 510,
	"NetworkAuthenticationRequired": 511,
}

// merge appends the attributes of an earlier event of the Activity whose keys dst does not have. If the later event has
// tags, they replace the tags of the earlier one, because an event lists all tags. Beyond maxMerged attributes, keys
// may repeat, because searching for them would take too long.
func merge(dst []span.Attribute, has set, earlier []span.Attribute, tagged int) []span.Attribute {
	if has.contains(propTags) {
		earlier = earlier[tagged:]
	}
	for _, x := range earlier {
		if len(dst) > maxMerged || !hasKey(dst, x.Key) {
			dst = append(dst, x)
		}
	}
	return dst
}

const maxMerged = 128

func hasKey(attributes []span.Attribute, key string) bool {
	for i := range attributes {
		if attributes[i].Key == key {
			return true
		}
	}
	return false
}
