package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/files/store"
)

// localStaging returns the directory of this machine for what a dataset in an object store has in _staging.
func localStaging(dir string) (string, error) {
	sum := sha256.Sum256([]byte(store.Clean(dir)))
	name := filepath.Join("ntconv", "datasets", hex.EncodeToString(sum[:8]))
	cache, err := os.UserCacheDir()
	if err != nil {
		return os.MkdirTemp("", "ntconv-dataset-")
	}
	return filepath.Join(cache, name), os.MkdirAll(filepath.Join(cache, name), 0o700)
}

// errLost means that another run has ended the turn of this one.
var errLost = errors.New("this run did not answer for a minute, and another one has ended its turn")

// send publishes a commit in an object store. Its files are sent under their final names; it is decided when its description
// appears. See turn.
func (d *Dataset) send(c *Commit, staging string) error {
	t, err := d.takeTurn(c)
	if err != nil {
		return err
	}
	stop := d.keepAlive(t)
	defer stop()
	if err := d.admit(c); err != nil {
		return errors.Join(err, d.finishTurn(t))
	}
	err = parallel(len(c.Files), requests, func(i int) error {
		if err := d.step(); err != nil {
			return err
		}
		return d.sendFile(filepath.Join(staging, stagedFile(i)), c.Files[i].Path)
	})
	if err == nil {
		err = d.step()
	}
	if err != nil {
		return d.undo(t, err)
	}
	if err := writeCompact(d.commitFile(c.ID+".json"), c); err != nil {
		return d.decideAgain(t, err)
	}
	// What follows can fail without harm: the next run does it.
	if err := d.removeReplaced(c); err != nil {
		return nil
	}
	_ = d.finishTurn(t)
	return nil
}

// decideAgain finds out whether a commit was decided although its decision failed: the answer may be lost, or another run may have
// ended the turn. If nobody can tell, everything stays, and the next run finds out.
func (d *Dataset) decideAgain(t *turn, err error) error {
	decided, eerr := d.endTurn(t)
	switch {
	case eerr != nil:
		return errors.Join(err, eerr)
	case decided:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w: %w", d.dir, errStale, errLost)
	}
	return err
}

// undo removes the files of a commit that this run does not decide.
func (d *Dataset) undo(t *turn, err error) error {
	if rerr := d.removeFiles(t.Files); rerr != nil {
		return errors.Join(err, rerr) // the turn stays, and the next run ends it
	}
	return errors.Join(err, d.finishTurn(t))
}

// sendFile sends a file to its name in the dataset.
func (d *Dataset) sendFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return store.Write(d.file(to), f, store.CreateOptions{})
}

// requests is the number of requests to a store at a time.
const requests = 16

// parallel calls f for 0 to n-1, at most so many at a time, and returns the first error in this order, after which it begins no
// others.
func parallel(n, workers int, f func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	var running sync.WaitGroup
	errs := make([]error, n)
	for range min(n, workers) {
		running.Go(func() {
			for i := int(next.Add(1) - 1); i < n && !failed.Load(); i = int(next.Add(1) - 1) {
				if errs[i] = f(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
