package diagsource

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// conventions lists the attributes of the stable semantic conventions that are not strings, and exception.escaped,
// which was stable before it was deprecated. All other attributes remain strings, because the text in a trace does not
// show the original type. So do values that do not have the type of the convention.
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

// attributeValue returns the value of an attribute that was recorded as text. If typed is set, the value has the type
// of the convention.
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

// isPlain reports whether a decimal number has the format of .NET, without plus sign and leading zeros, so that
// converting it loses no digit.
func isPlain(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return text == "0" || digits[0] != '0' && digits[0] != '+'
}
