package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A temporary file is called .ntconv-NAME.RANDOM.tmp, where NAME is the destination's base name, shortened if
// the whole would exceed what file systems take, and RANDOM is tempDigits hexadecimal digits.
const (
	tempPrefix = ".ntconv-"
	tempSuffix = ".tmp"
	tempDigits = 16
	tempBase   = 200 // bytes of NAME; 255 is the usual limit of a name
)

// openTemp creates the temporary file for a destination; old is the file there, or nil.
func (o *Output) openTemp(old fs.FileInfo) error {
	dir, base := filepath.Split(o.path)
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm() // from the start: a private file's data must not be readable for a moment
	}
	for range 100 {
		temp := filepath.Join(dir, tempName(base, rand.Uint64()))
		f, err := o.fs.open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if old != nil {
			err = f.Chmod(perm) // what the umask took away
		}
		if err != nil {
			f.Close() // empty: nothing that could be lost
			_ = o.fs.remove(temp)
			return err
		}
		o.f, o.temp, o.lease = f, temp, hold(o.fs, temp)
		return nil
	}
	return errors.New("no free name for a temporary file")
}

// tempName returns a name for base.
func tempName(base string, random uint64) string {
	if len(base) > tempBase {
		base = strings.ToValidUTF8(base[:tempBase], "")
	}
	return fmt.Sprintf("%s%s.%0*x%s", tempPrefix, base, tempDigits, random, tempSuffix)
}

// isTemp reports whether name is one that tempName makes for base.
func isTemp(name, base string) bool {
	fixed := len(tempName(base, 0)) - tempDigits - len(tempSuffix)
	return len(name) == fixed+tempDigits+len(tempSuffix) &&
		name[:fixed] == tempName(base, 0)[:fixed] &&
		strings.HasSuffix(name, tempSuffix) &&
		strings.Trim(name[fixed:fixed+tempDigits], "0123456789abcdef") == ""
}

// A leftover is an entry whose name is that of a temporary file or directory.
type leftover struct {
	path  string
	entry fs.DirEntry
}

// temporaries returns the entries that are named as temporary files of a destination are, those of runs in
// progress included.
func temporaries(sys fileSystem, dest string) []leftover {
	dir, base := filepath.Split(dest)
	if dir == "" {
		dir = "."
	}
	entries, err := sys.readDir(dir)
	if err != nil {
		return nil
	}
	var found []leftover
	for _, e := range entries {
		if isTemp(e.Name(), base) {
			found = append(found, leftover{filepath.Join(dir, e.Name()), e})
		}
	}
	return found
}
