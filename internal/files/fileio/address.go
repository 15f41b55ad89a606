package fileio

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrAddress means that a name is the address of something that is no file, such as s3://bucket/name. Without the check, an output
// would become a directory "s3:" with success.
var ErrAddress = errors.New("not a file")

// CheckAddress returns an error that wraps ErrAddress if a name is an address and no file has this name.
func CheckAddress(name string) error {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok || scheme == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" {
		return nil
	}
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	next := "mount the store, or copy with the program of the store"
	switch strings.ToLower(scheme) {
	case "s3":
		next = "copy with aws s3 cp, or mount the bucket"
	case "gs":
		next = "copy with gcloud storage cp, or mount the bucket"
	case "azblob", "az", "abfs", "abfss", "wasb", "wasbs":
		next = "copy with azcopy, or mount the container"
	case "http", "https":
		next = "download it, or pass it through a pipe with the name -"
	case "file":
		next = "name the path alone"
	}
	return fmt.Errorf("%w, and %s: addresses are not supported; %s", ErrAddress, scheme, next)
}
