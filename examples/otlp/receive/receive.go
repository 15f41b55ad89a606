package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/writer"
)

// record converts spans in OTLP to a nettrace trace. report counts problems of single spans; it may be nil.
func record(trace io.Writer, spans io.Reader, report *ntconv.Report) error {
	src, err := otlp.New(spans, &otlp.Options{Report: report})
	if err != nil {
		return err
	}
	sink, err := writer.New(trace, src.Info(), nil)
	if err != nil {
		return err
	}
	_, err = ntconv.Copy(sink, src)
	return errors.Join(err, sink.Close())
}

// A recorder receives requests of OTLP/HTTP and writes all of them as one trace. It is safe for concurrent use, except
// for close.
type recorder struct {
	mu       sync.Mutex // prevents requests from interleaving
	requests *io.PipeWriter
	done     chan error
}

// newRecorder starts writing a trace. Call close to complete it.
func newRecorder(trace io.Writer) *recorder {
	r, w := io.Pipe()
	rec := &recorder{requests: w, done: make(chan error, 1)}
	go func() {
		err := record(trace, r, nil)
		r.CloseWithError(err)
		rec.done <- err
	}()
	return rec
}

// ServeHTTP adds the spans of a request. Concatenated protobuf messages are one valid message, so the trace needs no
// framing.
func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "want application/x-protobuf", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if err := check(body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := rec.add(body); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty body means that all spans were accepted
}

func (rec *recorder) add(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	_, err := rec.requests.Write(body)
	return err
}

// check returns an error if a request is invalid: it would corrupt the trace or lose spans.
func check(body []byte) error {
	if len(body) == 0 { // a request without spans
		return nil
	}
	report := new(ntconv.Report)
	if err := record(io.Discard, bytes.NewReader(body), report); err != nil {
		return err
	}
	for _, entry := range report.Entries() {
		if entry.Code.Severity() >= ntconv.SeverityLoss {
			return errors.New(entry.String())
		}
	}
	return nil
}

// close completes the trace. It returns an error if there were no spans.
func (rec *recorder) close() error {
	rec.requests.Close()
	return <-rec.done
}
