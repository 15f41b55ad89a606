package fileio

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/ntconv/ntconv/internal/files/store"
)

// ErrAddress means that a name is the address of something that is no file, such as s3://bucket/name. Without the check, an output
// would become a directory "s3:" with success.
var ErrAddress = errors.New("not a file")

// CheckAddress returns an error that wraps ErrAddress if a name is an address, no store is registered for its scheme, and no file
// has this name.
func CheckAddress(name string) error {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok || scheme == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" {
		return nil
	}
	if store.Is(name) {
		return nil
	}
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	next := "mount the store, or copy with the program of the store"
	switch strings.ToLower(scheme) {
	case "s3":
		next = "use ntconv-fleet, which reads and writes it, or copy with aws s3 cp"
	case "gs":
		next = "use ntconv-fleet, which reads and writes it, or copy with gcloud storage cp"
	case "azblob":
		next = "use ntconv-fleet, which reads and writes it, or copy with azcopy"
	case "az", "abfs", "abfss", "wasb", "wasbs":
		next = "use ntconv-fleet with azblob://CONTAINER/NAME, or copy with azcopy"
	case "http", "https":
		next = "only inputs of the command can be read over HTTP"
	case "file":
		next = "name the path alone"
	}
	return fmt.Errorf("%w, and %s: addresses are not supported; %s", ErrAddress, scheme, next)
}

// IsRemote reports whether a name is an address that is read over HTTP: http://HOST/PATH or https://HOST/PATH.
func IsRemote(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://")
}

// Shown returns a name without what must not be shown: the query of an address may be a signature, and its user has a password.
func Shown(name string) string {
	if !IsRemote(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "an address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Base returns the last element of a name, of an address without its query.
func Base(name string) string {
	if IsRemote(name) {
		return path.Base(Shown(name))
	}
	_, base := store.Split(name)
	return base
}
