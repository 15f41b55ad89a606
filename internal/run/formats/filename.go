package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// compressionExts returns the extensions of compressed files, which can be read and written.
func compressionExts() []string { return []string{extGzip, extZstd} }

const (
	extGzip = ".gz"
	extZstd = ".zst"
)

// IsForeignCompression reports whether an extension with its dot is that of a compression that ntconv does not write.
func IsForeignCompression(ext string) bool {
	return slices.Contains([]string{".xz", ".bz2", ".lz4", ".lzma", ".zip", ".7z", ".br"}, strings.ToLower(ext))
}

// InputExts returns the extensions of the formats without the leading dot, each also with the extension of each
// compression, for the completion of file names.
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

// ByFile returns the format of the table with the longest extension that matches the name file, or nil.
func ByFile(table []*Format, file string) *Format {
	f, _ := byExt(table, file)
	return f
}

// cutExt removes the longest extension of a format from a name. It returns false if no extension matches.
func cutExt(table []*Format, file string) (string, bool) {
	f, n := byExt(table, file)
	return file[:len(file)-n], f != nil
}

// byExt returns the format of the longest matching extension, and the length of that extension; nil and 0 if none
// matches.
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

// CutCompression removes the extension of a compression from a name. It returns the extension in lower case, "" if the
// name has none.
func CutCompression(name string) (rest, ext string) {
	for _, ext := range compressionExts() {
		if n := len(name) - len(ext); n > 0 && strings.EqualFold(name[n:], ext) {
			return name[:n], ext
		}
	}
	return name, ""
}

// ByOutput returns the format that the name of an output states, or nil, and the extension of a compression that
// follows the extension of the format. compression is "" if there is none or if it belongs to the format's extension,
// as in .pb.gz.
func ByOutput(out string) (f *Format, compression string) {
	if f = ByFile(All(), out); f != nil {
		return f, ""
	}
	rest, compression := CutCompression(out)
	return ByFile(All(), rest), compression
}

// Compresses reports whether outputs of the format are compressed in the way that ext, as returned by ByOutput, states.
func (f *Format) Compresses(ext string) bool {
	return strings.HasSuffix(f.Exts[0], ext) || f.Out != nil && slices.Contains(f.Out.Compressions, ext)
}

// Mismatch returns a remark if the name of an output of format f states another format or compression, else "".
func (f *Format) Mismatch(out string) string {
	stated, compression := ByOutput(out)
	switch {
	case stated != nil && stated.Name != f.Name:
		return fmt.Sprintf("the name %s states the format %s, but the content is %s", out, stated.Name, f.Name)
	case compression != "" && !f.Compresses(compression):
		return fmt.Sprintf("the name %s states a compression, but the content is not compressed", out)
	case strings.HasSuffix(strings.ToLower(out), chromeInfix+".json"):
		return fmt.Sprintf("speedscope reads %s as a CPU profile, because the name ends in %s.json, and rejects it; rename it to %s",
			out, chromeInfix, out[:len(out)-len(chromeInfix)-len(".json")]+".trace.json")
	}
	return ""
}

// chromeInfix before .json makes speedscope expect an array with a V8 profile in place of any file of Chrome's format.
const chromeInfix = ".chrome"

// OutputFor returns the default name of the output for an input: in the current directory, with the extension of the
// format. trace.nettrace.gz becomes trace.pb.gz. The result may be the name of the input itself.
func (f *Format) OutputFor(in string) string { return stem(fileio.Base(in)) + f.Exts[0] }

// DirFor returns the default name of the output directory for an input, with a trailing separator.
func DirFor(in string) string { return stem(fileio.Base(in)) + string(filepath.Separator) }

// stem removes the extensions of a format and of a compression after it. It tries the format first, because the
// extension .pb.gz ends like that of a compression. It also removes chromeInfix, which must not precede .json.
func stem(base string) string {
	s, ok := cutExt(All(), base)
	if !ok {
		base, _ = CutCompression(base)
		s, _ = cutExt(All(), base)
	}
	if n := len(s) - len(chromeInfix); n > 0 && strings.EqualFold(s[n:], chromeInfix) {
		return s[:n]
	}
	return s
}
