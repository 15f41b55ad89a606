package input

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// Found holds the inputs that the arguments of a command line represent.
type Found struct {
	Names []string // in the order of the arguments, sorted within each; distinct
	// Below has for each name its path below the directory argument, or below the directories of a pattern before its
	// first metacharacter. For a named file that is its last element.
	Below   []string
	Skipped []string // files in directories whose format cannot be read, and datasets
}

// Find returns the inputs that arguments represent. An argument is the name of an input, a directory whose files are
// inputs, including those of its subdirectories, or a pattern: * and ? match characters of a name, [a-z] one of several
// characters, and ** any number of directories. A directory that is itself an input, for example one with the tables of
// a trace, is not searched. Files in directories are recognized by their extension or by their first bytes; names that
// begin with a dot or an underscore are omitted.
//
// A pattern without a match is an error that wraps fs.ErrNotExist; so is a directory without an input. A named file
// that does not exist is not an error here: opening it reports the error. Errors are of type *Error.
func Find(words []string, table []*formats.Format) (*Found, error) {
	f := &finder{table: table, seen: make(map[string]bool)}
	for _, word := range words {
		if err := f.word(word); err != nil {
			return nil, err
		}
	}
	return &f.found, nil
}

type finder struct {
	table []*formats.Format
	found Found
	seen  map[string]bool
	root  string // the directory that Found.Below is relative to, "" for named files
}

// An absence says what was not found. It is an fs.ErrNotExist.
type absence string

func (a absence) Error() string { return string(a) }
func (a absence) Unwrap() error { return fs.ErrNotExist }

// IsPattern reports whether Find treats a word as a pattern: it has a metacharacter, and no file has this name.
func IsPattern(word string) bool {
	if word == "-" || fileio.IsRemote(word) || !strings.ContainsAny(word, "*?[") {
		return false
	}
	_, err := store.Stat(word)
	return errors.Is(err, fs.ErrNotExist)
}

// word adds the inputs that an argument represents.
func (f *finder) word(word string) error {
	info, err := store.Stat(word)
	if f.root = ""; IsPattern(word) {
		return f.pattern(word)
	}
	if word == "-" || err != nil || !info.IsDir() {
		f.add(word) // opening the file reports its errors
		return nil
	}
	if err := cmp.Or(checkDataset(word), checkPart(word)); err != nil {
		return &Error{word, err}
	}
	before := len(f.seen)
	f.root = word
	if err := f.dir(word); err != nil {
		return err
	}
	if len(f.seen) == before && !f.covered(word) {
		return &Error{word, absence("no file in this directory can be read as a trace")}
	}
	return nil
}

// covered reports whether an earlier argument added the inputs in a directory.
func (f *finder) covered(dir string) bool {
	below := store.Clean(dir) + separator(dir)
	return slices.ContainsFunc(f.found.Names,
		func(name string) bool { return strings.HasPrefix(store.Clean(name), below) })
}

func (f *finder) add(name string) {
	if clean := store.Clean(name); !f.seen[clean] || name == "-" {
		f.seen[clean] = true
		f.found.Names = append(f.found.Names, name)
		f.found.Below = append(f.found.Below, f.below(name))
	}
}

// separator returns what is between the names of directories.
func separator(name string) string {
	if store.Is(name) {
		return "/"
	}
	return string(filepath.Separator)
}

func (f *finder) below(name string) string {
	if store.Is(f.root) {
		if rel, ok := strings.CutPrefix(name, store.Clean(f.root)+"/"); ok {
			return filepath.FromSlash(rel)
		}
		return fileio.Base(name)
	}
	if rel, err := filepath.Rel(f.root, name); f.root != "" && err == nil && rel != "." {
		return rel
	}
	return fileio.Base(name)
}

// dir adds the inputs in a directory, or the directory itself.
func (f *finder) dir(dir string) error {
	entries, err := store.ReadDir(dir)
	if err != nil {
		return &Error{dir, err}
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if f.isWhole(names) {
		f.add(dir)
		return nil
	}
	for _, e := range entries {
		name := store.Join(dir, e.Name())
		switch {
		case isHidden(e.Name()):
		case e.IsDir() && checkDataset(name) != nil:
			f.found.Skipped = append(f.found.Skipped, name)
		case e.IsDir():
			if err := f.dir(name); err != nil {
				return err
			}
		case f.isInput(name):
			f.add(name)
		default:
			f.found.Skipped = append(f.found.Skipped, name)
		}
	}
	return nil
}

// isWhole reports whether a directory with these files is one input: a format recognizes it, and no file has another
// format.
func (f *finder) isWhole(names []string) bool {
	format := formats.SniffDir(f.table, names)
	return format != nil && !slices.ContainsFunc(names, func(name string) bool {
		rest, _ := formats.CutCompression(name)
		other := formats.ByFile(f.table, rest)
		return other != nil && other.Name != format.Name && !isHidden(name) && !isGeneric(rest)
	})
}

// isInput reports whether a file has a format that can be read. The extension of a format decides, so that the user
// learns of corrupt files, unless it is generic; other files are recognized by their first bytes. A symbolic link is
// followed.
func (f *finder) isInput(name string) bool {
	if info, err := store.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	rest, _ := formats.CutCompression(name)
	stated := formats.ByFile(f.table, name)
	if stated == nil {
		stated = formats.ByFile(f.table, rest)
	}
	if stated != nil && !isGeneric(rest) {
		return true
	}
	in, err := fileio.Open(name, fileio.InputOptions{})
	if err != nil {
		return false
	}
	defer in.Close()
	s, err := in.Stream()
	if err != nil {
		return false
	}
	defer s.Close()
	start, err := bufio.NewReaderSize(s, formats.HeadSize).Peek(formats.HeadSize)
	if err != nil && err != io.EOF {
		return false
	}
	if stated == nil { // without a known extension, a hint in the contents is not sufficient
		return formats.Sniff(f.table, start) != nil
	}
	_, err = formats.Detect(f.table, name, start)
	return err == nil
}

// isGeneric reports whether the extension of a file is used for arbitrary contents.
func isGeneric(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl", ".ndjson", ".txt":
		return true
	}
	return false
}

// pattern adds the inputs that match a pattern.
func (f *finder) pattern(pattern string) error {
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	for _, part := range parts {
		if _, err := path.Match(part, ""); err != nil {
			return &Error{pattern, fmt.Errorf("%w in %q; [ and ] need each other", err, part)}
		}
	}
	first := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, "*?[") })
	root := strings.Join(parts[:first], "/")
	if first > 0 && root == "" {
		root = "/"
	}
	if !store.Is(pattern) {
		root = filepath.FromSlash(root)
	}
	f.root = cmp.Or(root, ".")
	var names []string
	if err := match(root, parts[first:], &names); err != nil {
		return &Error{pattern, err}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return &Error{pattern, cmp.Or(checkPart(f.root), error(absence("no file matches the pattern")))}
	}
	for _, name := range names {
		if info, err := store.Stat(name); err == nil && info.IsDir() {
			if err := f.dir(name); err != nil {
				return err
			}
			continue
		}
		f.add(name)
	}
	return nil
}

// match appends the names below dir that match the parts of a pattern. * and ** do not match names that begin with a
// dot.
func match(dir string, parts []string, names *[]string) error {
	if len(parts) == 0 {
		*names = append(*names, dir)
		return nil
	}
	part, rest := parts[0], parts[1:]
	if part == "**" {
		if err := match(dir, rest, names); err != nil {
			return err
		}
	} else if !strings.ContainsAny(part, "*?[") {
		name := store.Join(dir, part)
		if _, err := store.Stat(name); err != nil {
			return nil // no match
		}
		return match(name, rest, names)
	}
	entries, err := store.ReadDir(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		name := store.Join(dir, e.Name())
		next := rest
		if part == "**" {
			if next = parts; !e.IsDir() {
				continue
			}
		} else if ok, _ := path.Match(part, e.Name()); !ok || len(rest) > 0 && !fileio.IsDir(name) {
			continue
		}
		if err := match(name, next, names); err != nil {
			return err
		}
	}
	return nil
}

// IsDir reports whether a directory is one input or a dataset, so that the files in it are not inputs by themselves.
func IsDir(dir string, table []*formats.Format) bool {
	if checkDataset(dir) != nil {
		return true
	}
	entries, err := store.ReadDir(dir)
	if err != nil {
		return true // opening it reports the error
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return formats.SniffDir(table, names) != nil
}

// checkDataset returns a *DatasetError if a directory is a dataset, which contains many traces and is not an input.
func checkDataset(dir string) error {
	if _, err := store.Stat(store.Join(dir, dataset.ConfigName)); err != nil {
		return nil
	}
	return &DatasetError{Dir: dir}
}

// checkPart returns a *DatasetError if the files in a directory are those of a dataset, which have the rows of many traces. In a dataset
// of layout 1, they have those of one.
func checkPart(dir string) error {
	outer := dir
	if checkDataset(dir) == nil {
		outer = dataset.Around(dir)
	}
	if outer == "" {
		return nil
	}
	if _, err := dataset.Open(outer); err != nil {
		return nil
	}
	return &DatasetError{Dir: outer, Part: true}
}

// A DatasetError means that an input is a dataset, or a part of its files.
type DatasetError struct {
	Dir  string // of the dataset
	Part bool
}

func (e *DatasetError) Error() string {
	if e.Part {
		return "a file of a dataset has the rows of many traces, and is not a trace"
	}
	return "this is a dataset of many traces, and not a trace"
}
