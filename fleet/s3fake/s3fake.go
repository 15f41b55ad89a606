// Package s3fake runs an object store with the protocol of S3 in the process of a test, and makes requests fail.
package s3fake

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

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/ntconv/ntconv/internal/files/store"
)

// Bucket is the bucket that every Server has.
const Bucket = "bucket"

// A Server is a store.
type Server struct {
	URL      string
	Requests atomic.Int64
	Failed   atomic.Int64 // requests that a fault ended

	mu     sync.Mutex
	faults *rand.Rand // nil without faults
	share  float64    // of requests that fail
	hook   func(r *http.Request)
}

// New starts a store that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	memory := s3mem.New()
	if err := memory.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s := new(Server)
	inner := gofakes3.New(memory, gofakes3.WithoutVersioning()).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(inner, w, r) }))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

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
func (s *Server) Environment() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + s.URL, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"NTCONV_S3=use_path_style=true",
	}
}

// Setenv makes names of s3:// those of objects of the store, for a test.
func (s *Server) Setenv(t testing.TB) {
	t.Helper()
	for _, v := range s.Environment() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	store.Forget() // buckets of another server
}
