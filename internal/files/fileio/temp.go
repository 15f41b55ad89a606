package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The name of a temporary file is .ntconv-NAME.RANDOM.tmp. NAME is the base name of the destination, truncated if the
// whole name would exceed the limit of file systems, and RANDOM is tempDigits hexadecimal digits.
const (
	tempPrefix = ".ntconv-"
	tempSuffix = ".tmp"
	tempDigits = 16
	tempBase   = 200 // bytes of NAME; 255 is the usual limit of a name
)

// openTemp creates the temporary file for a destination. old describes the file there, or is nil.
func (o *Output) openTemp(old fs.FileInfo) error {
	dir, base := filepath.Split(o.path)
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm() // set at creation, so that others can never read the data of a private file
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
			err = f.Chmod(perm) // restore the bits that the umask has cleared
		}
		if err != nil {
			f.Close() // the file is empty
			_ = o.fs.remove(temp)
			return err
		}
		o.f, o.temp, o.lease = f, temp, hold(o.fs, temp)
		return nil
	}
	return errors.New("no free name for a temporary file")
}

// tempName returns the name of a temporary file for base.
func tempName(base string, random uint64) string {
	if len(base) > tempBase {
		base = strings.ToValidUTF8(base[:tempBase], "")
	}
	return fmt.Sprintf("%s%s.%0*x%s", tempPrefix, base, tempDigits, random, tempSuffix)
}

// isTemp reports whether tempName(base, r) returns name for some r.
func isTemp(name, base string) bool {
	fixed := len(tempName(base, 0)) - tempDigits - len(tempSuffix)
	return len(name) == fixed+tempDigits+len(tempSuffix) &&
		name[:fixed] == tempName(base, 0)[:fixed] &&
		strings.HasSuffix(name, tempSuffix) &&
		strings.Trim(name[fixed:fixed+tempDigits], "0123456789abcdef") == ""
}

// A leftover is an entry with the name of a temporary file or directory.
type leftover struct {
	path  string
	entry fs.DirEntry
}

// temporaries returns the entries with the names of temporary files of a destination, including those of other runs in
// progress. It returns nil if the directory cannot be read.
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
