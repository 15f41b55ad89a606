package otlpclient

import (
	"fmt"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// An Option is a member of Config that the advice of an error names.
type Option string

const (
	OptionCA       Option = "CA"
	OptionHeaders  Option = "Headers"
	OptionProtocol Option = "Protocol"
	OptionRetryFor Option = "RetryFor"
)

// An advice is a next step. If it has an option, text has one verb for its name.
type advice struct {
	text   string
	option Option
}

var (
	adviceCredentials = advice{"check the credentials in %s or OTEL_EXPORTER_OTLP_HEADERS", OptionHeaders}
	adviceGRPC        = advice{"check that the endpoint accepts OTLP over gRPC, or choose %s http/protobuf", OptionProtocol}
	adviceTLS         = advice{text: "the receiver uses TLS; use https:// instead of http://"}
)

// adviceOf returns the advice to check something, with the usual path of a signal.
func adviceOf(check string, signal otlp.Signal) advice {
	return advice{text: check + "; most receivers accept " + signal.String() + " at " + DefaultPath(signal)}
}

// advice returns the text of an advice with the name that OptionName returns.
func (c *Config) advice(a advice) string {
	switch {
	case a.option == "":
		return a.text
	case c.OptionName != nil:
		return fmt.Sprintf(a.text, c.OptionName(a.option))
	}
	return fmt.Sprintf(a.text, "Config."+string(a.option))
}
