package formats

import (
	"cmp"
	"fmt"
	"os"
	"strings"

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

// bindCollector defines the flags for the connection to a receiver of OTLP.
func bindCollector(flags *pflag.FlagSet) *connectionFlags {
	f := bindConnection(flags, headersOfOTLP)
	flags.StringVar(&f.endpoint, flagEndpoint, "", "send to the collector at this `URL` or HOST:PORT; https uses TLS, and so "+
		"does HOST:PORT except for this machine (default: OTEL_EXPORTER_OTLP_ENDPOINT, if -o is not given)")
	flags.Var(&wordValue{&f.protocol, "grpc|http/protobuf|http/json"}, flagProtocol,
		"protocol (default: http/protobuf for port 4318 or a URL with a path, else grpc)")
	flags.Var(&wordValue{&f.compression, "gzip|none"}, flagCompression, "compression of requests (default none)")
	return f
}

const headersOfOTLP = "OTEL_EXPORTER_OTLP_HEADERS"

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

// client returns a client for the endpoints of the signals. Its errors are FlagErrors without values that may be secret.
func (f *connectionFlags) client(signals otlp.Signals) (*otlpclient.Client, error) {
	c, err := f.config(os.Getenv)
	if err != nil {
		return nil, &FlagError{err.Error()}
	}
	client, err := otlpclient.New(c)
	if err != nil {
		return nil, &FlagError{fmt.Sprintf("%s: %v", cmp.Or(f.given(flagEndpoint), endpointVariable(signals, os.Getenv)), err)}
	}
	if first := signals.List()[0]; client.Plain(first) {
		return client, f.unencrypted(client.Endpoint(first))
	}
	return client, nil
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
