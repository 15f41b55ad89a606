package formats

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/spf13/pflag"
)

// A spansValue is a flag for a list of sources of spans.
type spansValue otlp.Sources

// spanSources returns the names of --spans in the order in which help and errors show them.
func spanSources() []choiceValue[otlp.Sources] {
	list := []choiceValue[otlp.Sources]{{"labels", otlp.Labels}, {"activities", otlp.Activities}, {"pairs", otlp.Pairs}}
	for _, c := range operation.Categories() {
		list = append(list, choiceValue[otlp.Sources]{c.Name, otlp.Sources(c.Source)})
	}
	return append(list, choiceValue[otlp.Sources]{"default", otlp.DefaultSources},
		choiceValue[otlp.Sources]{"all", otlp.DefaultSources | otlp.Sources(operation.Runtime)})
}

func (v *spansValue) Set(s string) error {
	set, err := parseSet(spanSources(), s)
	*v |= spansValue(set | otlp.Imported | otlp.Chrome)
	return err
}

func (v *spansValue) String() string {
	if *v == 0 {
		return "labels,activities,pairs"
	}
	return setNames(spanSources(), otlp.Sources(*v))
}

func (v *spansValue) Type() string { return "list" }

// A signalsValue is a flag for a list of signals.
type signalsValue otlp.Signals

func signalChoices() (list []choiceValue[otlp.Signals]) {
	every := otlp.Signals(0)
	for s := range otlp.NumSignals {
		list = append(list, choiceValue[otlp.Signals]{s.String(), otlp.SignalSet(s)})
		every |= otlp.SignalSet(s)
	}
	return append(list, choiceValue[otlp.Signals]{"all", every})
}

func (v *signalsValue) Set(s string) error {
	set, err := parseSet(signalChoices(), s)
	*v |= signalsValue(set)
	return err
}

func (v *signalsValue) String() string {
	if *v == 0 {
		return ""
	}
	return setNames(signalChoices(), otlp.Signals(*v))
}

func (v *signalsValue) Type() string { return "list" }

// A wordValue is a flag for one of several words. config checks its value together with that of the environment
// variable.
type wordValue struct {
	value *string
	words string // separated by "|", as Choices expects
}

func (v *wordValue) Set(s string) error { *v.value = s; return nil }
func (v *wordValue) String() string     { return *v.value }
func (v *wordValue) Type() string       { return v.words }

// connectionFlags are the flags that determine where and how spans are sent. Each has an environment variable of
// OpenTelemetry, which applies if the flag is not given.
type connectionFlags struct {
	flags         *pflag.FlagSet
	endpoint      string
	protocol      string
	compression   string
	headers       []string
	ca, cert, key string
	skipVerify    bool
	timeout       time.Duration
	retryFor      time.Duration
}

const (
	flagEndpoint    = "endpoint"
	flagProtocol    = "protocol"
	flagHeader      = "header"
	flagCompression = "compression"
	flagCA          = "ca"
	flagCert        = "cert"
	flagKey         = "key"
	flagSkipVerify  = "insecure-skip-verify"
	flagTimeout     = "timeout"
	flagRetryFor    = "retry-for"
)

// connectionNames returns the names of all connection flags except --endpoint.
func connectionNames() []string {
	return []string{
		flagProtocol, flagHeader, flagCompression, flagCA, flagCert, flagKey, flagSkipVerify, flagTimeout, flagRetryFor,
	}
}

func bindConnection(flags *pflag.FlagSet) *connectionFlags {
	f := &connectionFlags{flags: flags}
	flags.StringVar(&f.endpoint, flagEndpoint, "", "send to the collector at this `URL` or HOST:PORT; https uses TLS, and so "+
		"does HOST:PORT except for this machine (default: OTEL_EXPORTER_OTLP_ENDPOINT, if -o is not given)")
	flags.Var(&wordValue{&f.protocol, "grpc|http/protobuf|http/json"}, flagProtocol,
		"protocol (default: http/protobuf for port 4318 or a URL with a path, else grpc)")
	flags.StringArrayVar(&f.headers, flagHeader, nil, "send this header `key=value` with each batch; repeatable. "+
		"OTEL_EXPORTER_OTLP_HEADERS keeps secrets out of the list of processes")
	flags.Var(&wordValue{&f.compression, "gzip|none"}, flagCompression, "compression of requests (default none)")
	flags.StringVar(&f.ca, flagCA, "", "PEM `file` of the certificate authority of the collector (default: those of the system)")
	flags.StringVar(&f.cert, flagCert, "", "PEM `file` of a client certificate")
	flags.StringVar(&f.key, flagKey, "", "PEM `file` of its key")
	flags.BoolVar(&f.skipVerify, flagSkipVerify, false, "accept any certificate of the collector")
	flags.DurationVar(&f.timeout, flagTimeout, otlpclient.DefaultTimeout, "maximum `time` for one request")
	flags.DurationVar(&f.retryFor, flagRetryFor, otlpclient.DefaultRetryFor, "maximum `time` to retry a batch; 0 sends it "+
		"once. Unless given, at most 5s until the collector has answered for the first time")
	return f
}

// endpointVariable returns the name of the environment variable that holds an endpoint for one of the signals, "" if
// none is set.
func endpointVariable(signals otlp.Signals, getenv func(string) string) string {
	const prefix, suffix = "OTEL_EXPORTER_OTLP_", "ENDPOINT"
	for _, s := range signals.List() {
		if name := prefix + strings.ToUpper(s.String()) + "_" + suffix; strings.TrimSpace(getenv(name)) != "" {
			return name
		}
	}
	if name := prefix + suffix; strings.TrimSpace(getenv(name)) != "" {
		return name
	}
	return ""
}

// unused returns one note per connection flag that was given although a file is written.
func (f *connectionFlags) unused() (notes []string) {
	for _, name := range connectionNames() {
		if f.flags.Changed(name) {
			notes = append(notes, fmt.Sprintf("--%s has no effect: the spans are written to a file", name))
		}
	}
	return notes
}

// config merges the flags with the environment. Flags take precedence, also over variables of one signal. The error names
// the flag or variable.
func (f *connectionFlags) config() (*otlpclient.Config, error) {
	c, err := otlpclient.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	for _, own := range append(c.Signals[:], c) {
		if own == nil {
			continue
		}
		if err := f.apply(own); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// optionFlags are the flags that set the options that errors of a client name.
var optionFlags = map[otlpclient.Option]string{
	otlpclient.OptionCA: flagCA, otlpclient.OptionHeaders: flagHeader, otlpclient.OptionProtocol: flagProtocol, otlpclient.OptionRetryFor: flagRetryFor,
}

// apply sets the members of a configuration for which flags are given.
func (f *connectionFlags) apply(c *otlpclient.Config) error {
	c.OptionName = func(o otlpclient.Option) string { return "--" + optionFlags[o] }
	if f.flags.Changed(flagEndpoint) {
		if c.Endpoint, c.Path = f.endpoint, otlpclient.PathGiven; f.endpoint == "" {
			return fmt.Errorf("--%s: want http://HOST:PORT or https://HOST:PORT, such as http://localhost:4317", flagEndpoint)
		}
	}
	for _, set := range []struct {
		flag string
		to   func() error
	}{
		{flagProtocol, func() error { return c.SetProtocol(f.protocol) }},
		{flagCompression, func() error { return c.SetCompression(f.compression) }},
		{flagHeader, func() error { return addHeaders(c, f.headers) }},
		{flagCA, func() error { c.CA = f.ca; return nil }},
		{flagCert, func() error { c.Cert = f.cert; return nil }},
		{flagKey, func() error { c.Key = f.key; return nil }},
		{flagSkipVerify, func() error { c.SkipVerify = f.skipVerify; return nil }},
		{flagTimeout, func() error { c.Timeout = f.timeout; return positive(f.timeout > 0) }},
		{flagRetryFor, func() error { c.RetryFor, c.Patient = f.retryFor, true; return positive(f.retryFor >= 0) }},
	} {
		if !f.flags.Changed(set.flag) {
			continue
		}
		if err := set.to(); err != nil {
			return fmt.Errorf("--%s: %w", set.flag, err)
		}
	}
	return nil
}

func addHeaders(c *otlpclient.Config, headers []string) error {
	for _, h := range headers {
		if err := c.AddHeader(h); err != nil {
			return err
		}
	}
	return nil
}

func positive(ok bool) error {
	if !ok {
		return errors.New("want a positive time")
	}
	return nil
}

// client returns a client for the endpoints of the signals. Its errors are FlagErrors without values that may be secret.
func (f *connectionFlags) client(signals otlp.Signals) (*otlpclient.Client, error) {
	c, err := f.config()
	if err != nil {
		return nil, &FlagError{err.Error()}
	}
	client, err := otlpclient.New(c)
	if err != nil {
		return nil, &FlagError{fmt.Sprintf("%s: %v", cmp.Or(f.given(flagEndpoint), endpointVariable(signals, os.Getenv)), err)}
	}
	if first := signals.List()[0]; client.Plain(first) {
		for _, name := range []string{flagCA, flagCert, flagKey, flagSkipVerify} {
			if f.flags.Changed(name) {
				return nil, &FlagError{fmt.Sprintf("--%s has no effect on %s, which does not use TLS; use https://",
					name, client.Endpoint(first))}
			}
		}
	}
	return client, nil
}

// given returns a flag with two hyphens if the user gave it, else "".
func (f *connectionFlags) given(flag string) string {
	if f.flags.Changed(flag) {
		return "--" + flag
	}
	return ""
}

// resourceFromEnvironment sets the resource that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe, unless a flag
// sets it, and returns notes on the variables it used. SDKs describe their own process with these variables; ntconv has
// no spans of its own, so the variables describe the processes of the trace.
func resourceFromEnvironment(o *otlp.Options, getenv func(string) string) (notes []string, err error) {
	const nameVariable, listVariable = "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"
	list, err := otlpclient.ParseList(getenv(listVariable))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", listVariable, err)
	}
	if name := strings.TrimSpace(getenv(nameVariable)); name != "" && o.ServiceName == "" {
		o.ServiceName = name
		notes = append(notes, fmt.Sprintf("service.name is %s by %s", name, nameVariable))
	}
	used := false
	for _, pair := range list {
		_, given := o.Resource.Get(pair[0])
		if given || pair[0] == "service.name" && o.ServiceName != "" {
			continue
		}
		used = true
		o.Resource = append(o.Resource, ntconv.Attr{Key: pair[0], Value: pair[1]})
	}
	if used {
		notes = append(notes, "resource attributes are added by "+listVariable)
	}
	return notes, nil
}
