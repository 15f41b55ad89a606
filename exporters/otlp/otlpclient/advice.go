package otlpclient

import "fmt"

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
	adviceTLS = advice{text: "the receiver uses TLS; use https:// instead of http://"}

	// Of receivers of OTLP.
	adviceCredentials = advice{"check the credentials in %s or OTEL_EXPORTER_OTLP_HEADERS", OptionHeaders}
	adviceGRPC        = advice{"check that the endpoint accepts OTLP over gRPC, or choose %s http/protobuf", OptionProtocol}
)

// credentials returns the advice for a refusal to whoever sends.
func (t *target) credentials() advice {
	if t.method.Path != "" {
		return advice{"check the credentials in %s", OptionHeaders}
	}
	return adviceCredentials
}

// grpc returns the advice for an answer that is not one of the called method of gRPC.
func (t *target) grpc() advice {
	if t.method.Path != "" {
		return advice{text: "check that the endpoint accepts gRPC and has " + t.method.Path}
	}
	return adviceGRPC
}

// location returns the advice to check something, with the usual path of the signal.
func (t *target) location(check string) advice {
	if t.method.Path != "" {
		return advice{text: check + ", which ends with " + t.method.Path}
	}
	return advice{text: check + "; most receivers accept " + t.signal.String() + " at " + DefaultPath(t.signal)}
}

// listens returns the advice for a receiver that has never answered.
func (t *target) listens() string {
	text := "check that a receiver listens there and accepts " + string(t.protocol)
	if t.method.Path != "" {
		return text
	}
	return text + " (the usual port is 4317 for gRPC, 4318 for HTTP)"
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
