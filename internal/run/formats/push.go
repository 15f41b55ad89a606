package formats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/exporters/pprof/pprofpush"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// pushFlags are the flags for sending profiles to Pyroscope or Parca.
type pushFlags struct {
	link    *connectionFlags
	service string
	labels  []string
}

const flagPushLabel = "push-label"

// headersVariable is the environment variable for headers of requests to Pyroscope and Parca. Those of OTLP are for
// another receiver and may be secret.
const headersVariable = "NTCONV_PUSH_HEADERS"

// bindPush defines the flags.
func bindPush(flags *pflag.FlagSet) *pushFlags {
	f := &pushFlags{link: bindConnection(flags, headersVariable)}
	flags.StringVar(&f.link.endpoint, flagEndpoint, "", "send the profiles to Pyroscope or Parca instead of writing a file: `URL` is pyroscope+http://HOST:4040 "+
		"or parca+http://HOST:7070; https:// uses TLS")
	flags.StringVar(&f.service, flagServiceName, "", "with --endpoint: `name` of the service (default: from the command line of the process with most events)")
	flags.StringArrayVar(&f.labels, flagPushLabel, nil, "with --endpoint: label `key=value` of the profiles; repeatable")
	return f
}

// destination returns where the output goes if the flags send it.
func (f *pushFlags) destination() (to Destination, flag string, ok bool) {
	if f == nil || !f.link.flags.Changed(flagEndpoint) {
		return ToFile, "", false
	}
	return ToNothing, "--" + flagEndpoint, true
}

// unused returns notes on flags that have an effect only if profiles are sent.
func (f *pushFlags) unused() (notes []string) {
	if f == nil {
		return nil
	}
	for _, name := range []string{flagServiceName, flagPushLabel} {
		if f.link.flags.Changed(name) {
			notes = append(notes, fmt.Sprintf("--%s has no effect: the output is written to a file", name))
		}
	}
	return append(notes, f.link.unused()...)
}

// client returns the client for the flags, and the labels. Errors are FlagErrors.
func (f *pushFlags) client() (*pprofpush.Client, ntconv.Attrs, error) {
	labels, err := parsePairs(flagPushLabel, f.labels)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range labels {
		if err := pprofpush.CheckLabel(l.Key); err != nil {
			return nil, nil, &FlagError{fmt.Sprintf("--%s %s: %v", flagPushLabel, l.Key, err)}
		}
	}
	config, err := f.config()
	if err != nil {
		return nil, nil, err
	}
	client, err := pprofpush.New(f.link.endpoint, config)
	if err != nil {
		return nil, nil, &FlagError{fmt.Sprintf("--%s: %v", flagEndpoint, err)}
	}
	if client.Plain() {
		err = f.link.unencrypted(client.Endpoint())
	}
	return client, labels, err
}

// config returns the configuration of the client. Headers of flags take precedence over those of the environment.
func (f *pushFlags) config() (*otlpclient.Config, error) {
	c, err := f.link.config(func(string) string { return "" }) // the variables of OTLP are for another receiver
	if err != nil {
		return nil, &FlagError{err.Error()}
	}
	headers, err := otlpclient.ParseList(os.Getenv(headersVariable))
	for _, pair := range headers {
		if _, given := c.Headers[strings.ToLower(pair[0])]; err == nil && !given {
			err = c.AddHeader(pair[0] + "=" + pair[1])
		}
	}
	if err != nil {
		return nil, &FlagError{headersVariable + ": " + err.Error()}
	}
	return c, nil
}

// create returns a sink that sends the profiles of a format.
func (f *pushFlags) create(p *profileFlags, as *profileFormat, info *ntconv.Info, t *Target) (Sink, error) {
	client, labels, err := f.client()
	if err != nil {
		return nil, err
	}
	s := &pushSink{client: client, labels: labels, namer: t.Namer, report: t.Report, service: f.service}
	if p.kinds.isSeveral() {
		s.profileSink = p.sink(as, nil, s.create, p.kinds.each, info, t)
	} else {
		s.profileSink = p.sink(as, s.add(p.kinds.kind), nil, nil, info, t)
	}
	return s, nil
}

// A pushSink sends profiles when the input has ended. They are in memory, compressed, until then.
type pushSink struct {
	*profileSink
	client   *pprofpush.Client
	labels   ntconv.Attrs
	namer    ntconv.Namer
	report   *ntconv.Report
	service  string // from a flag, else found by tally
	tally    recording.Tally
	profiles []*pushedProfile
	sent     atomic.Int64 // profiles
	result   pushed
}

// A pushedProfile is an encoded profile before it is sent.
type pushedProfile struct {
	bytes.Buffer
	kind sample.Kind
}

// Close implements io.Closer.
func (p *pushedProfile) Close() error { return nil }

func (s *pushSink) add(k sample.Kind) *pushedProfile {
	p := &pushedProfile{kind: k}
	s.profiles = append(s.profiles, p)
	return p
}

// find returns the profile of a kind. A single profile has the kind that the exporter has chosen.
func (s *pushSink) find(k sample.Kind) *pushedProfile {
	for _, p := range s.profiles {
		if p.kind == k || !s.PerKind() {
			return p
		}
	}
	return nil
}

// create opens the profile of a kind.
func (s *pushSink) create(k sample.Kind) (io.WriteCloser, error) { return s.add(k), nil }

// Write implements ntconv.Sink.
func (s *pushSink) Write(e *ntconv.Event) error {
	s.tally.Observe(e)
	return s.profileSink.Write(e)
}

// Close encodes the profiles and sends those with samples. An error states how many were sent before it.
func (s *pushSink) Close() error {
	err := s.profileSink.Close()
	if err == nil {
		err = s.push()
	}
	return errors.Join(err, s.client.Close())
}

func (s *pushSink) push() error {
	s.result.Endpoint = s.client.Endpoint()
	if s.result.Service = s.service; s.service == "" {
		_, main := s.tally.Main(s.namer)
		if s.result.Service = main.Service(); s.result.Service == recording.UnknownService {
			s.result.Service = recording.UnknownProgram
			s.result.remarks = append(s.result.remarks, "the trace does not name the program; set --"+flagServiceName)
		}
	}
	for _, sum := range s.Summaries() {
		profile := s.find(sum.Kind)
		if sum.Items == 0 || profile == nil {
			continue
		}
		// The context is never canceled: a signal ends the process, and the flags bound the time of a request.
		err := s.client.Push(context.Background(), &pprofpush.Series{
			Name: pprofpush.Name(sum.Kind), Service: s.result.Service, Labels: s.labels, Profile: profile.Bytes(), Samples: sum.Items,
		})
		if partial := (*otlp.PartialSuccessError)(nil); errors.As(err, &partial) {
			s.result.Rejected++
			s.report.Note(ntconv.CodeRejected, uint64(sum.Items), -1, partial.Message)
			s.result.remarks = append(s.result.remarks, sum.Kind.String()+" profile rejected by the receiver: "+partial.Message)
			continue
		}
		if err != nil {
			return s.failure(err, sum.Kind)
		}
		s.sent.Add(1)
	}
	return nil
}

// failure returns the error of a profile that was not sent.
func (s *pushSink) failure(err error, k sample.Kind) error {
	before := fmt.Sprintf("%s profile not sent", k)
	if n := s.sent.Load(); n > 0 {
		before += ", " + message.Count(n, "profile") + " sent before it"
	}
	err = fmt.Errorf("%s: %w", before, err)
	if errors.Is(err, otlp.ErrTooLarge) {
		err = &ntconv.AdviceError{Err: err, Advice: "send a part of the trace (--from-time, --to-time), or raise the receiver's limit"}
	}
	return err
}

// Sent implements Sending.
func (s *pushSink) Sent() (what, where string) {
	return message.Count(s.sent.Load(), "profile"), s.client.Endpoint()
}

// Result implements Sink.
func (s *pushSink) Result() Result {
	r := s.profileSink.Result()
	s.result.Pushed = s.sent.Load()
	retries := s.client.Stats()
	for _, remark := range s.result.remarks {
		r.Remark(remark)
	}
	if retries.Doubled > 0 {
		r.Remark("samples perhaps received twice, because an answer was missing: " + message.Group(retries.Doubled))
	}
	switch r := r.(type) {
	case *profileResult:
		r.pushed = s.result
	case *kindsResult:
		r.pushed = s.result
	}
	return r
}

// pushed are the members of a result whose profiles were sent.
type pushed struct {
	Endpoint string `json:"endpoint,omitempty"`
	Service  string `json:"service,omitempty"`
	Pushed   int64  `json:"sent,omitempty"` // profiles
	Rejected int64  `json:"rejected,omitempty"`
	remarks  []string
}

// line returns what the line of a result says of the receiver.
func (p *pushed) line() string {
	if p.Endpoint == "" {
		return ""
	}
	return fmt.Sprintf("%s sent to %s as service %s: ", message.Count(p.Pushed, "profile"), p.Endpoint, p.Service)
}

// covered returns the codes of the report that the remarks cover, in addition to list.
func (p *pushed) covered(list []ntconv.Code) []ntconv.Code {
	if p.Rejected > 0 {
		list = append(list, ntconv.CodeRejected)
	}
	return list
}

var (
	_ Sending        = (*pushSink)(nil)
	_ ntconv.Watcher = (*pushSink)(nil)
)
