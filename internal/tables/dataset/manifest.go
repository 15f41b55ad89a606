package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// A Manifest describes a trace. It is stored as ManifestName in the directory of the trace.
type Manifest struct {
	UID    string `json:"uid"`    // the first uidDigits digits of SHA256; the directory is named after it
	SHA256 string `json:"sha256"` // of the decompressed content of the trace, in hexadecimal
	Source string `json:"source"` // name of the input
	Size   int64  `json:"size"`   // stored bytes of the input, -1 if unknown
	Format string `json:"format"` // format and version of the input
	Properties
	Duration   time.Duration `json:"duration_ns"` // of the selected part of the recording
	Events     int64         `json:"events"`      // events in the tables
	Lost       int64         `json:"lost_events"` // events that the recorder lost
	Incomplete string        `json:"incomplete,omitempty"`
	Selection  string        `json:"selection,omitempty"` // selection of events; "" if the tables have all
	Settings   string        `json:"settings,omitempty"`  // other flags that determine the tables; "" for the defaults
	Schema     int           `json:"schema"`              // version of the tables
	Version    string        `json:"ntconv_version"`
	Added      time.Time     `json:"added"`
	Files      []File        `json:"files"` // sorted by name
}

// A File is a file in the directory of a trace.
type File struct {
	Name   string `json:"name"` // relative to the directory, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// TableBytes returns the total size of all files in bytes.
func (m *Manifest) TableBytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// uidDigits is the number of hexadecimal digits of a UID. With a million traces, two have the same UID with a
// probability of 3 in 10^8.
const uidDigits = 16

// UIDOf returns the UID for a SHA-256 sum, which must have 32 bytes.
func UIDOf(sum []byte) string { return hex.EncodeToString(sum)[:uidDigits] }

// IsUID reports whether text has the form of a UID.
func IsUID(text string) bool {
	if len(text) != uidDigits {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// maxManifest is the maximum size of a manifest in bytes. A trace with 5,000 typed tables has a manifest of 1 MB.
const maxManifest = 64 << 20

// readManifest reads the manifest in the directory of a trace.
func readManifest(dir string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, &fileio.Error{Name: dir, Op: "open " + ManifestName, Bytes: -1, Err: err}
	}
	defer f.Close()
	m := new(Manifest)
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, ManifestName, err)
	}
	return m, nil
}

// listFiles returns the files of a trace without the manifest, with the sizes and hashes of the files on disk.
func listFiles(dir string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name == ManifestName {
			return nil
		}
		file, err := describeFile(path)
		file.Name = filepath.ToSlash(name)
		files = append(files, file)
		return err
	})
	slices.SortFunc(files, func(a, b File) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return files, err
}

// describeFile returns the size and hash of a file.
func describeFile(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
