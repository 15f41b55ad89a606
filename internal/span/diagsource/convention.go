package diagsource

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// conventions are attributes of the stable semantic conventions that are not strings, and exception.escaped, which was
// stable before it was deprecated. Other attributes stay strings, and so does a value that is not what the convention
// says: the text in a trace does not show the type that a value had.
var conventions = map[string]span.ValueKind{
	"aspnetcore.request.is_unhandled": span.ValueBool,
	"aspnetcore.routing.is_fallback":  span.ValueBool,
	"client.port":                     span.ValueInt,
	"code.column.number":              span.ValueInt,
	"code.line.number":                span.ValueInt,
	"db.operation.batch.size":         span.ValueInt,
	"exception.escaped":               span.ValueBool,
	"http.request.resend_count":       span.ValueInt,
	"http.response.status_code":       span.ValueInt,
	"network.local.port":              span.ValueInt,
	"network.peer.port":               span.ValueInt,
	"server.port":                     span.ValueInt,
}

// attributeValue returns the value of an attribute that was recorded as a text, with the type of the convention if
// typed is set.
func attributeValue(key, text string, typed bool) span.Value {
	if !typed {
		return span.String(text)
	}
	switch conventions[key] {
	case span.ValueInt:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && isPlain(text) {
			return span.Int(n)
		}
	case span.ValueBool:
		if text == "True" || text == "False" {
			return span.Bool(text == "True")
		}
	}
	return span.String(text)
}

// isPlain reports whether a decimal number is written as .NET writes it, without a plus sign and leading zeros: then no
// digit is lost.
func isPlain(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return text == "0" || digits[0] != '0' && digits[0] != '+'
}
