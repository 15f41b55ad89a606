// Package objectstore joins the object stores of Amazon (s3://), Google (gs://) and Azure (azblob://) to the program, and those with
// the protocol of one of them, such as MinIO.
//
// Credentials, regions and endpoints are found by the usual chain of each cloud: environment variables, configuration files,
// identities of machines and workloads. NTCONV_S3, NTCONV_GS and NTCONV_AZBLOB add parameters of gocloud.dev's addresses, such as
// use_path_style=true.
package objectstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/files/store"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // opens azblob://
	_ "gocloud.dev/blob/gcsblob"   // opens gs://
	_ "gocloud.dev/blob/s3blob"    // opens s3://
	"gocloud.dev/gcerrors"
)

// Register joins the stores to the program. It must be called once.
func Register() {
	for _, scheme := range []string{"s3", "gs", "azblob"} {
		store.Register(scheme, func(ctx context.Context, bucket string) (store.Store, error) {
			return open(ctx, scheme+"://"+bucket, os.Getenv("NTCONV_"+strings.ToUpper(scheme)))
		})
	}
}

// open opens a bucket by an address of gocloud.dev and parameters of it.
func open(ctx context.Context, address, parameters string) (store.Store, error) {
	if parameters != "" {
		address += "?" + parameters
	}
	b, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	return &bucket{b: b}, nil
}

// A bucket is a store.Store.
type bucket struct {
	b    *blob.Bucket
	seen atomic.Bool // the bucket exists
}

// noBucket returns the error of a request that only fails with fs.ErrNotExist if there is no such bucket.
func noBucket(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &storeError{"there is no such bucket", err, fs.ErrNotExist}
	}
	return err
}

// pause is that of store.Retry, whose attempts are in addition to those of the clients.
const pause = 100 * time.Millisecond

// again calls f until it succeeds or fails for good.
func again(f func() error) error {
	return store.Retry(pause, func() (again bool, err error) {
		err = f()
		return passes(err), described(err)
	})
}

// passes reports whether another attempt may succeed.
func passes(err error) bool {
	if errors.Is(err, store.ErrChanged) {
		return false
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.FailedPrecondition, gcerrors.AlreadyExists, gcerrors.PermissionDenied, gcerrors.InvalidArgument,
		gcerrors.Unimplemented, gcerrors.Canceled:
		return false
	}
	return true
}

// A storeError is an error of a store with a text for users, and with the error of package fs for its kind, or nil.
type storeError struct {
	text string
	err  error
	kind error
}

func (e *storeError) Error() string { return e.text }

// Unwrap implements errors.Unwrap.
func (e *storeError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.err}
	}
	return []error{e.err, e.kind}
}

// described returns the error of a store without the words of gocloud.dev, with the next step.
func described(err error) error {
	if err == nil || errors.Is(err, store.ErrChanged) || errors.Is(err, fs.ErrClosed) {
		return err
	}
	kind := kinds[gcerrors.Code(err)]
	if kind != nil && kind != fs.ErrPermission {
		return &storeError{kind.Error(), err, kind}
	}
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "(code="); ok { // the beginning repeats the name
		_, text, _ = strings.Cut(rest, "): ")
	}
	for part, next := range nextSteps {
		if strings.Contains(text, part) {
			text += "; " + next
		}
	}
	return &storeError{text, err, kind}
}

// kinds are the errors of package fs by the code of an error.
var kinds = map[gcerrors.ErrorCode]error{
	gcerrors.NotFound:           fs.ErrNotExist,
	gcerrors.FailedPrecondition: fs.ErrExist,
	gcerrors.AlreadyExists:      fs.ErrExist,
	gcerrors.PermissionDenied:   fs.ErrPermission,
}

// nextSteps are what helps with errors of the clients of stores.
var nextSteps = map[string]string{
	"Invalid region":              "set AWS_REGION",
	"A region must be set":        "set AWS_REGION",
	"failed to refresh cached cr": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of ~/.aws with AWS_PROFILE",
	"could not find default cred": "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS",
}

// Stat implements store.Store.
func (s *bucket) Stat(ctx context.Context, key string) (*store.Object, error) {
	o := &store.Object{Key: key}
	err := again(func() error {
		a, err := s.b.Attributes(ctx, key)
		if err == nil {
			o.Size, o.ModTime = a.Size, a.ModTime
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && !s.seen.Load() { // the answer does not say of what
		exists, failed := s.b.IsAccessible(ctx)
		if failed == nil && !exists {
			return o, noBucket(err)
		}
		s.seen.Store(exists)
	}
	return o, err
}

// Read implements store.Store.
func (s *bucket) Read(ctx context.Context, o *store.Object, offset, n int64) (data []byte, err error) {
	err = again(func() error {
		r, err := s.b.NewRangeReader(ctx, o.Key, offset, n, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		// Google's answers to reads have whole seconds, its descriptions of objects fractions of them.
		if r.Size() != o.Size || r.ModTime().Unix() != o.ModTime.Unix() {
			return store.ErrChanged
		}
		data = make([]byte, min(n, o.Size-offset))
		_, err = io.ReadFull(r, data)
		return err
	})
	return data, err
}

// List implements store.Store.
func (s *bucket) List(ctx context.Context, prefix, delimiter string) iter.Seq2[*store.Object, error] {
	return func(yield func(*store.Object, error) bool) {
		page := blob.FirstPageToken
		for {
			var list []*blob.ListObject
			var next []byte
			err := again(func() (err error) {
				list, next, err = s.b.ListPage(ctx, page, pageSize, &blob.ListOptions{Prefix: prefix, Delimiter: delimiter})
				return err
			})
			if err != nil {
				yield(nil, noBucket(err))
				return
			}
			for _, o := range list {
				if !yield(&store.Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime, Prefix: o.IsDir}, nil) {
					return
				}
			}
			if page = next; len(next) == 0 {
				return
			}
		}
	}
}

// pageSize is the number of objects of one request.
const pageSize = 1000

// Remove implements store.Store.
func (s *bucket) Remove(ctx context.Context, key string) error {
	first := true
	return again(func() error {
		err := s.b.Delete(ctx, key)
		if !first && gcerrors.Code(err) == gcerrors.NotFound {
			return nil // an earlier attempt removed it
		}
		first = false
		return err
	})
}

// Create implements store.Store. The object is uploaded from a pipe: the writer that gocloud.dev v0.47.0 has for Azure panics if an
// upload fails while it is closed, as that of an object that another run has created.
func (s *bucket) Create(ctx context.Context, key string, o store.CreateOptions) (store.Writer, error) {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	out := &writer{w: w, cancel: cancel, result: make(chan error, 1)}
	go func() {
		err := s.b.Upload(ctx, key, r, &blob.WriterOptions{IfNotExist: o.Absent, ContentType: "application/octet-stream"})
		_ = r.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // never fails; Write returns the error
		out.result <- err
	}()
	return out, nil
}

// A writer is a store.Writer. Abort may be called during a Write, which then fails.
type writer struct {
	w      *io.PipeWriter
	cancel context.CancelFunc
	result chan error // that of the upload

	mu   sync.Mutex // held by Write, Commit and the end of Abort
	done bool
}

// errEnded is the cause if a writer is used after its end.
var errEnded = fmt.Errorf("writing has ended: %w", fs.ErrClosed)

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return 0, errEnded
	}
	n, err := w.w.Write(p)
	return n, described(err)
}

// Commit implements store.Writer.
func (w *writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return errEnded
	}
	w.done = true
	defer w.cancel()
	_ = w.w.Close() // never fails
	return noBucket(described(<-w.result))
}

// Abort implements store.Writer.
func (w *writer) Abort() error {
	w.cancel()
	_ = w.w.CloseWithError(context.Canceled) // the upload fails, and so does a Write that waits for it
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.done = true
		<-w.result
	}
	return nil
}
