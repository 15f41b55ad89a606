// Package memstore is an object store in memory for tests: several runs see the same objects, and the requests of each can fail or
// wait.
package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/files/store"
)

// Scheme is the scheme of the names of objects: mem://VIEW/KEY.
const Scheme = "mem"

var views struct {
	sync.Mutex
	list map[string]*View
}

var register = sync.OnceFunc(func() {
	views.list = make(map[string]*View)
	store.Register(Scheme, func(_ context.Context, bucket string) (store.Store, error) {
		views.Lock()
		defer views.Unlock()
		if v := views.list[bucket]; v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("no view %s: %w", bucket, fs.ErrNotExist)
	})
})

// Objects are the objects of a store.
type Objects struct {
	mu   sync.Mutex
	list map[string]object
	last time.Time // of an object; no two have the same time
}

type object struct {
	data []byte
	at   time.Time
}

// New returns a store without objects.
func New() *Objects { return &Objects{list: make(map[string]object)} }

// A View is a store as one run sees it.
type View struct {
	Address string // mem://VIEW
	objects *Objects
	// Before, if not nil, is called before each request, and its error is the result. It must not change while requests are made.
	Before func(op, key string) error
	// After, if not nil, is called after each request that succeeded, and its error is the result.
	After func(op, key string) error
}

var number atomic.Int64

// View returns a new view of the store.
func (o *Objects) View() *View {
	register()
	name := fmt.Sprint("view", number.Add(1))
	v := &View{Address: Scheme + "://" + name, objects: o}
	views.Lock()
	defer views.Unlock()
	views.list[name] = v
	return v
}

// Keys returns the keys of all objects in order.
func (o *Objects) Keys() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.list))
}

func (v *View) begin(op, key string) error {
	if v.Before == nil {
		return nil
	}
	return v.Before(op, key)
}

func (v *View) end(op, key string) error {
	if v.After == nil {
		return nil
	}
	return v.After(op, key)
}

// Stat implements store.Store.
func (v *View) Stat(_ context.Context, key string) (*store.Object, error) {
	if err := v.begin("stat", key); err != nil {
		return nil, err
	}
	v.objects.mu.Lock()
	defer v.objects.mu.Unlock()
	o, ok := v.objects.list[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &store.Object{Key: key, Size: int64(len(o.data)), ModTime: o.at}, nil
}

// Read implements store.Store.
func (v *View) Read(_ context.Context, is *store.Object, offset, n int64) ([]byte, error) {
	if err := v.begin("read", is.Key); err != nil {
		return nil, err
	}
	v.objects.mu.Lock()
	defer v.objects.mu.Unlock()
	o, ok := v.objects.list[is.Key]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case !o.at.Equal(is.ModTime):
		return nil, store.ErrChanged
	}
	return o.data[offset:min(offset+n, int64(len(o.data)))], nil
}

// List implements store.Store.
func (v *View) List(_ context.Context, prefix, delimiter string) iter.Seq2[*store.Object, error] {
	return func(yield func(*store.Object, error) bool) {
		if err := v.begin("list", prefix); err != nil {
			yield(nil, err)
			return
		}
		before := ""
		for _, o := range v.objects.below(prefix) {
			if rest := o.Key[len(prefix):]; delimiter != "" && strings.Contains(rest, delimiter) {
				common := prefix + rest[:strings.Index(rest, delimiter)+len(delimiter)]
				if common == before {
					continue
				}
				before = common
				o = &store.Object{Key: common, Prefix: true}
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

// below describes the objects with a prefix.
func (o *Objects) below(prefix string) (list []*store.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, is := range o.list {
		if strings.HasPrefix(key, prefix) {
			list = append(list, &store.Object{Key: key, Size: int64(len(is.data)), ModTime: is.at})
		}
	}
	slices.SortFunc(list, func(a, b *store.Object) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// Remove implements store.Store.
func (v *View) Remove(_ context.Context, key string) error {
	if err := v.begin("remove", key); err != nil {
		return err
	}
	v.objects.mu.Lock()
	defer v.objects.mu.Unlock()
	if _, ok := v.objects.list[key]; !ok {
		return fs.ErrNotExist
	}
	delete(v.objects.list, key)
	return v.end("remove", key)
}

// Create implements store.Store.
func (v *View) Create(_ context.Context, key string, o store.CreateOptions) (store.Writer, error) {
	return &writer{v: v, key: key, o: o}, nil
}

type writer struct {
	v    *View
	key  string
	o    store.CreateOptions
	buf  bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.over {
		return 0, fs.ErrClosed
	}
	return w.buf.Write(p)
}

// Commit implements store.Writer.
func (w *writer) Commit() error {
	if w.over {
		return errors.New("writing has ended")
	}
	w.over = true
	if err := w.v.begin("create", w.key); err != nil {
		return err
	}
	o := w.v.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.list[w.key]; ok && w.o.Absent {
		return fs.ErrExist
	}
	now := time.Now()
	if !now.After(o.last) {
		now = o.last.Add(1)
	}
	o.last = now
	o.list[w.key] = object{w.buf.Bytes(), now}
	return w.v.end("create", w.key)
}

// Abort implements store.Writer.
func (w *writer) Abort() error {
	w.over = true
	return nil
}
