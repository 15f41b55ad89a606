package formats

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/spf13/pflag"
)

// A wordValue is a flag for one of several words. config checks its value together with that of the environment
// variable.
type wordValue struct {
	value *string
	words string // separated by "|", as Choices expects
}

func (v *wordValue) Set(s string) error { *v.value = s; return nil }
func (v *wordValue) String() string     { return *v.value }
func (v *wordValue) Type() string       { return v.words }

// connectionFlags are the flags that determine where and how an output is sent. For OTLP, each has an environment variable
// of OpenTelemetry, which applies if the flag is not given.
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
)

// FlagRetryFor is the flag that limits how long a request is sent again.
const FlagRetryFor = "retry-for"

// connectionNames returns the names of all connection flags except --endpoint.
func connectionNames() []string {
	return []string{
		flagProtocol, flagHeader, flagCompression, flagCA, flagCert, flagKey, flagSkipVerify, flagTimeout, FlagRetryFor,
	}
}

// bindConnection defines the flags except --endpoint, and those that only receivers of OTLP have. headers is the environment variable for headers.
func bindConnection(flags *pflag.FlagSet, headers string) *connectionFlags {
	f := &connectionFlags{flags: flags}
	flags.StringArrayVar(&f.headers, flagHeader, nil, "send this header `key=value` with each request; repeatable. "+
		headers+" keeps secrets out of the list of processes")
	flags.StringVar(&f.ca, flagCA, "", "PEM `file` of the certificate authority of the receiver (default: those of the system)")
	flags.StringVar(&f.cert, flagCert, "", "PEM `file` of a client certificate")
	flags.StringVar(&f.key, flagKey, "", "PEM `file` of its key")
	flags.BoolVar(&f.skipVerify, flagSkipVerify, false, "accept any certificate of the receiver")
	flags.DurationVar(&f.timeout, flagTimeout, otlpclient.DefaultTimeout, "maximum `time` for one request")
	flags.DurationVar(&f.retryFor, FlagRetryFor, otlpclient.DefaultRetryFor, "maximum `time` to retry a request; 0 sends it "+
		"once. Unless given, at most 5s until the receiver has answered for the first time")
	return f
}

// unused returns one note per connection flag that was given although a file is written.
func (f *connectionFlags) unused() (notes []string) {
	for _, name := range connectionNames() {
		if f.flags.Changed(name) {
			notes = append(notes, fmt.Sprintf("--%s has no effect: the output is written to a file", name))
		}
	}
	return notes
}

// config merges the flags with the environment. Flags take precedence, also over variables of one signal. The error names
// the flag or variable.
func (f *connectionFlags) config(getenv func(string) string) (*otlpclient.Config, error) {
	c, err := otlpclient.FromEnvironment(getenv)
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
	otlpclient.OptionCA: flagCA, otlpclient.OptionHeaders: flagHeader, otlpclient.OptionProtocol: flagProtocol, otlpclient.OptionRetryFor: FlagRetryFor,
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
		{FlagRetryFor, func() error { c.RetryFor, c.Patient = f.retryFor, true; return positive(f.retryFor >= 0) }},
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

// unencrypted returns a *FlagError if a flag needs TLS, which an endpoint does not use.
func (f *connectionFlags) unencrypted(endpoint string) error {
	for _, name := range []string{flagCA, flagCert, flagKey, flagSkipVerify} {
		if f.flags.Changed(name) {
			return &FlagError{fmt.Sprintf("--%s has no effect on %s, which does not use TLS; use https://", name, endpoint)}
		}
	}
	return nil
}

// given returns a flag with two hyphens if the user gave it, else "".
func (f *connectionFlags) given(flag string) string {
	if f.flags.Changed(flag) {
		return "--" + flag
	}
	return ""
}

// parsePairs parses the values of a flag for attributes or labels. The error is a *FlagError.
func parsePairs(flag string, pairs []string) (list ntconv.Attrs, err error) {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, &FlagError{fmt.Sprintf("--%s %s: want key=value", flag, pair)}
		}
		list = append(list, ntconv.Attr{Key: key, Value: value})
	}
	return list, nil
}
