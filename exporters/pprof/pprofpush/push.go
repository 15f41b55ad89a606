// Package pprofpush sends profiles in the format of pprof to the continuous profilers Pyroscope and Parca.
//
//	client, err := pprofpush.New("pyroscope+http://localhost:4040", nil)
//	err = client.Push(ctx, &pprofpush.Series{Name: pprofpush.Name(sample.CPU), Service: "shop", Profile: profile, Samples: n})
//
// The requests are made by an otlpclient.Client, so that retries, limits and the errors of a receiver are those of OTLP.
// The messages are push.v1.PushRequest of Pyroscope, and parca.profilestore.v1alpha1.WriteRawRequest of Parca.
package pprofpush

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/sample"
)

// A receiver is a program that accepts profiles. Requests are a list of series, each with labels (field 1) and profiles
// (field 2).
type receiver struct {
	name     string // before the plus sign of an endpoint
	protocol otlpclient.Protocol
	method   otlpclient.Method
	series   protowire.Number // the field of a request that has the series
	labelSet bool             // the labels of a series are in a message of their own
	labels   ntconv.Attrs     // of each series
}

var receivers = []receiver{
	{
		name:     "pyroscope",
		protocol: otlpclient.HTTPProtobuf,
		method:   otlpclient.Method{Path: "/push.v1.PusherService/Push", ContentType: "application/proto"},
		series:   1,
		// Otherwise Pyroscope takes the values of profiles with the name memory or mutex for totals since the start of the
		// program, and subtracts those of the profile before.
		labels: ntconv.Attrs{{Key: "__delta__", Value: "false"}},
	},
	{
		name:     "parca",
		protocol: otlpclient.GRPC,
		method:   otlpclient.Method{Path: "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"},
		series:   2,
		labelSet: true,
	},
}

// A Client sends profiles to one receiver. It is safe for concurrent use, except for Close.
type Client struct {
	to     *receiver
	client *otlpclient.Client
}

var errEndpoint = errors.New("want pyroscope+http://HOST:4040 or parca+http://HOST:7070, or https:// with TLS")

// New returns a Client for an endpoint: the name of the receiver, a plus sign and its URL, whose path is that before the
// path of the method. It uses the members of c for the connection, but for Endpoint, Path, Protocol, Method and Signals;
// nil means the defaults, without the environment. Close the Client after use.
func New(endpoint string, c *otlpclient.Config) (*Client, error) {
	name, url, _ := strings.Cut(endpoint, "+")
	for i := range receivers {
		to := &receivers[i]
		if !strings.EqualFold(name, to.name) || !strings.Contains(url, "://") {
			continue
		}
		own := otlpclient.Config{RetryFor: otlpclient.DefaultRetryFor}
		if c != nil {
			own = *c
		}
		own.Endpoint, own.Path, own.Protocol, own.Method = url, otlpclient.PathGiven, to.protocol, to.method
		own.Signals = [otlp.NumSignals]*otlpclient.Config{}
		client, err := otlpclient.New(&own)
		if err != nil {
			return nil, err
		}
		return &Client{to, client}, nil
	}
	return nil, errEndpoint
}

// Endpoint returns the URL of requests, without secrets.
func (c *Client) Endpoint() string { return c.client.Endpoint(otlp.Profiles) }

// Plain reports whether connections are unencrypted.
func (c *Client) Plain() bool { return c.client.Plain(otlp.Profiles) }

// A Series is one profile with the labels by which a receiver finds it.
type Series struct {
	Name    string       // of the profile, see Name
	Service string       // the label service_name
	Labels  ntconv.Attrs // keys of letters, digits and underscores
	Profile []byte       // profile.proto, compressed with gzip; Parca accepts no other. The time in it is that of the profile
	Samples int          // for messages
}

// Push sends a profile. It repeats the request as otlpclient.Client.Upload does, and its errors are those of Upload. A
// receiver that refuses this profile and has accepted another is an *otlp.PartialSuccessError.
func (c *Client) Push(ctx context.Context, s *Series) error {
	for _, l := range s.Labels {
		if err := CheckLabel(l.Key); err != nil {
			return fmt.Errorf("label %s: %w", l.Key, err)
		}
	}
	return c.client.Upload(ctx, otlp.Profiles, c.request(s), s.Samples)
}

// Stats returns how many requests were repeated and how many samples may have been received twice.
func (c *Client) Stats() otlp.UploadStats { return c.client.Stats() }

// Close closes the connections. No Push may be running.
func (c *Client) Close() error { return c.client.Close() }

// request returns the message: a series with labels (fields name and value) and one sample, which is a profile.
func (c *Client) request(s *Series) []byte {
	var labels []byte
	own := ntconv.Attrs{{Key: "__name__", Value: s.Name}, {Key: labelService, Value: s.Service}}
	for _, list := range []ntconv.Attrs{own, c.to.labels, s.Labels} {
		for _, l := range list {
			labels = appendMessage(labels, 1, appendText(appendText(nil, 1, l.Key), 2, l.Value))
		}
	}
	if c.to.labelSet {
		labels = appendMessage(nil, 1, labels)
	}
	series := appendMessage(labels, 2, appendMessage(nil, 1, s.Profile))
	return appendMessage(nil, c.to.series, series)
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

func appendText(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(text, "\uFFFD"))
}

const labelService = "service_name"

// CheckLabel returns an error unless both receivers accept a key as the label of a series. The labels that a request
// always has are not among these.
func CheckLabel(key string) error {
	for i, r := range key {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return errors.New("want letters, digits and underscores, and no digit at the start")
		}
	}
	if key == "" || key == labelService || strings.HasPrefix(key, "__") {
		return errors.New("want a key other than " + labelService + " and those that begin with two underscores")
	}
	return nil
}

// names are the names that profilers of other languages give to kinds of profiles, by which the pages of the receivers
// group them.
var names = map[sample.Kind]string{sample.CPU: "process_cpu", sample.Alloc: "memory", sample.Contention: "mutex"}

// Name returns the usual name of a kind of profile in Pyroscope and Parca, such as process_cpu. Their queries accept
// letters, digits and underscores.
func Name(k sample.Kind) string {
	return cmp.Or(names[k], strings.ReplaceAll(k.String(), "-", "_"))
}
