package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// compressionExts returns the extensions of compressed files, which can be read and written.
func compressionExts() []string { return []string{extGzip, extZstd} }

const (
	extGzip = ".gz"
	extZstd = ".zst"
)

// InputExts returns the extensions of files of the formats, also compressed ones, without the first dot.
func InputExts(table []*Format) []string {
	var exts []string
	for _, f := range table {
		for _, e := range f.Exts {
			e = strings.TrimPrefix(e, ".")
			exts = append(exts, e)
			for _, c := range compressionExts() {
				exts = append(exts, e+c)
			}
		}
	}
	return exts
}

// ByFile returns the format of the table whose extension a file has, the longest one if several match, or nil.
func ByFile(table []*Format, file string) *Format {
	f, _ := byExt(table, file)
	return f
}

// cutExt returns a file's name without the extension of a format, the longest one if several match, and whether it has
// one.
func cutExt(table []*Format, file string) (string, bool) {
	f, n := byExt(table, file)
	return file[:len(file)-n], f != nil
}

// byExt returns the format of a file by its extension, and the length of the extension.
func byExt(table []*Format, file string) (best *Format, longest int) {
	base := strings.ToLower(filepath.Base(file))
	for _, f := range table {
		for _, ext := range f.Exts {
			if len(ext) > longest && len(base) > len(ext) && strings.HasSuffix(base, ext) {
				best, longest = f, len(ext)
			}
		}
	}
	return best, longest
}

// CutCompression returns a file's name without the extension of a compression, and that extension in lower case, "" if
// it has none.
func CutCompression(name string) (rest, ext string) {
	for _, ext := range compressionExts() {
		if n := len(name) - len(ext); n > 0 && strings.EqualFold(name[n:], ext) {
			return name[:n], ext
		}
	}
	return name, ""
}

// ByOutput returns the format that the name of an output states, or nil, and the extension of a compression after that
// of the format. It is "" if there is none or if it is part of the format's extension, as in .pb.gz.
func ByOutput(out string) (f *Format, compression string) {
	if f = ByFile(All(), out); f != nil {
		return f, ""
	}
	rest, compression := CutCompression(out)
	return ByFile(All(), rest), compression
}

// Compresses reports whether outputs of the format with an extension as returned by ByOutput are compressed in this way.
func (f *Format) Compresses(ext string) bool {
	return strings.HasSuffix(f.Exts[0], ext) || f.Out != nil && slices.Contains(f.Out.Compressions, ext)
}

// Mismatch returns a remark if the name of an output of the format states another format or compression, "" if it does
// not.
func (f *Format) Mismatch(out string) string {
	named, compression := ByOutput(out)
	switch {
	case named != nil && named.Name != f.Name:
		return fmt.Sprintf("the name %s says %s, but this is %s", out, named.Name, f.Name)
	case compression != "" && !f.Compresses(compression):
		return fmt.Sprintf("the name %s says that it is compressed, but it is not", out)
	}
	return ""
}

// OutputFor returns the name of an output that is named after its input: in the current directory, with the extension
// of the format. trace.nettrace.gz becomes trace.pb.gz. The result may be the name of the input.
func (f *Format) OutputFor(in string) string { return stem(filepath.Base(in)) + f.Exts[0] }

// DirFor returns the name of the directory that an input becomes if no output is named.
func DirFor(in string) string { return stem(filepath.Base(in)) + string(filepath.Separator) }

// stem returns a name without the extensions of a format and of a compression after it. It looks for a format first,
// because the extension .pb.gz ends like that of a compression.
func stem(base string) string {
	if s, ok := cutExt(All(), base); ok {
		return s
	}
	base, _ = CutCompression(base)
	s, _ := cutExt(All(), base)
	return s
}
