// Package storefake runs object stores with the protocols of S3, Google Cloud Storage and Azure Blob Storage for tests, and makes
// requests fail.
package storefake

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/ntconv/ntconv/internal/files/store"
)

// Bucket is the bucket that every Server has.
const Bucket = "bucket"

// A Server is a store.
type Server struct {
	Scheme   string // of the names of its objects
	URL      string
	Requests atomic.Int64
	Failed   atomic.Int64 // requests that a fault ended

	environment []string

	mu     sync.Mutex
	faults *rand.Rand // nil without faults
	share  float64    // of requests that fail
	hook   func(r *http.Request)
}

// Each runs a test with a store of each kind. Without Azurite, that of Azure is skipped.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	for scheme, start := range map[string]func(testing.TB) *Server{"s3": New, "gs": NewGoogle, "azblob": NewAzure} {
		t.Run(scheme, func(t *testing.T) { test(t, start(t)) })
	}
}

// New starts a store with the protocol of S3 that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	memory := s3mem.New()
	if err := memory.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "s3", gofakes3.New(memory, gofakes3.WithoutVersioning()).Server())
	s.environment = append(AWS("AWS_ENDPOINT_URL", s.URL), "NTCONV_S3=use_path_style=true")
	return s
}

// AWS returns the variables with which the AWS SDK finds a server of tests, and nothing of the machine. endpoint names that of its URL.
func AWS(endpoint, url string) []string {
	return []string{
		endpoint + "=" + url, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
}

// NewGoogle starts a store with the protocol of Google Cloud Storage that ends with the test.
func NewGoogle(t testing.TB) *Server {
	t.Helper()
	var handler http.Handler
	s := serve(t, "gs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	host := strings.TrimPrefix(s.URL, "http://")
	// The public host is that of the requests, so that the store also answers those of the XML protocol, with which objects are read.
	google, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, ExternalURL: s.URL, PublicHost: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(google.Stop)
	google.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: Bucket})
	handler = google.HTTPHandler()
	s.environment = []string{"STORAGE_EMULATOR_HOST=" + host, "NTCONV_GS=anonymous=true"}
	return s
}

// serve starts a server that executes requests by inner.
func serve(t testing.TB, scheme string, inner http.Handler) *Server {
	t.Helper()
	s := &Server{Scheme: scheme}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(inner, w, r) }))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Name returns the name of an object, or of what is below the bucket.
func (s *Server) Name(key string) string { return s.Scheme + "://" + Bucket + "/" + key }

// Fail makes a share of all requests fail from now on: before they are executed, or afterwards, so that only the answer is lost.
func (s *Server) Fail(share float64, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share, s.faults = share, rand.New(rand.NewPCG(seed, 1))
}

// Before sets a function that is called before each request.
func (s *Server) Before(hook func(r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// fault returns the kind of the fault of a request, -1 for none.
func (s *Server) fault(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook != nil {
		s.hook(r)
	}
	if s.faults == nil || s.faults.Float64() >= s.share {
		return -1
	}
	s.Failed.Add(1)
	return s.faults.IntN(4)
}

func (s *Server) serve(inner http.Handler, w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	switch s.fault(r) {
	case 0:
		http.Error(w, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
	case 1: // the connection breaks before the request
		panic(http.ErrAbortHandler)
	case 2: // the connection breaks after the request
		inner.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 3: // the connection breaks in the middle of the answer
		got := httptest.NewRecorder()
		inner.ServeHTTP(got, r)
		for key, values := range got.Header() {
			w.Header()[key] = values
		}
		body := got.Body.Bytes()
		if len(body) > 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(got.Code)
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	default:
		inner.ServeHTTP(w, r)
	}
}

// Environment returns the variables with which a program finds the store.
func (s *Server) Environment() []string { return s.environment }

// Setenv makes names with the scheme of the store those of its objects, for a test.
func (s *Server) Setenv(t testing.TB) {
	t.Helper()
	for _, v := range s.Environment() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	store.Forget() // buckets of another server
}
