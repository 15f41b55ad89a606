package clr

import (
	"crypto/sha1"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/ntconv/ntconv"
)

// Names of the providers whose events have a special meaning.
const (
	Runtime          = "Microsoft-Windows-DotNETRuntime"
	Rundown          = "Microsoft-Windows-DotNETRuntimeRundown"
	SampleProfiler   = "Microsoft-DotNETCore-SampleProfiler"
	EventPipe        = "Microsoft-DotNETCore-EventPipe"
	DiagnosticSource = "Microsoft-Diagnostics-DiagnosticSource"
	Logging          = "Microsoft-Extensions-Logging"
	UniversalSystem  = "Universal.System"
	UniversalEvents  = "Universal.Events"
)

// IsRuntime reports whether a provider is part of the native runtime (its four manifests and the sample profiler).
// Traces contain neither names nor fields of its events, and their IDs are fixed.
func IsRuntime(provider string) bool {
	p := providerOf(provider)
	return p != nil && p.native
}

// sourceNamespace is the prefix of hashed names of event sources.
const sourceNamespace = "\x48\x2C\x2D\xB2\xC3\x90\x47\xC8\x87\xF8\x1A\x15\xBF\xC1\x30\xFB"

// ProviderGUID returns the ID of a provider: the fixed one of well-known providers, otherwise the one that .NET derives
// from the name (SHA-1 of a namespace and the upper-case name in big-endian UTF-16, marked as version 5). It ignores a
// leading *; an empty name has the zero ID.
func ProviderGUID(name string) ntconv.GUID {
	name = strings.TrimPrefix(name, "*")
	if name == "" {
		return ntconv.GUID{}
	}
	fixed := ""
	if p := providerOf(name); p != nil {
		fixed = p.guid
	} else if name == "Microsoft-Windows-Application Server-Applications" {
		fixed = "c651f5f6-1c0d-492e-8ae1-b4efd7c9d503"
	}
	if g, err := ntconv.ParseGUID(fixed); err == nil {
		return g
	}
	return hashGUID(name)
}

func hashGUID(name string) (g ntconv.GUID) {
	b := []byte(sourceNamespace)
	for _, u := range utf16.Encode([]rune(strings.Map(invariantUpper, name))) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	sum := sha1.Sum(b)
	copy(g[:], sum[:])
	g[7] = g[7]&0x0f | 0x50
	return g
}

// invariantUpper is unicode.ToUpper except for the two letters that .NET does not map to ASCII.
func invariantUpper(r rune) rune {
	if r == 'ı' || r == 'ſ' {
		return r
	}
	return unicode.ToUpper(r)
}

// AppendKeywords appends the names of a provider's keywords to dst, joined by |, and then the bits without a name in
// hexadecimal. For 0 it appends nothing.
func AppendKeywords(dst []byte, provider string, keywords uint64) []byte {
	start := len(dst)
	add := func(name string) {
		if len(dst) > start {
			dst = append(dst, '|')
		}
		dst = append(dst, name...)
	}
	if p := providerOf(provider); p != nil {
		p.all()
		for _, k := range p.keywords {
			if keywords&k.mask != 0 {
				add(k.name)
				keywords &^= k.mask
			}
		}
	}
	if keywords != 0 {
		add("0x" + strconv.FormatUint(keywords, 16))
	}
	return dst
}

// Opcodes that all providers share (winmeta.xml).
const (
	OpcodeStart = 1
	OpcodeStop  = 2
)
