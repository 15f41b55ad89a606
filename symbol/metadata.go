package symbol

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// symbolMetadata is the part of ProcessMappingMetadata's SymbolMetadata that identifies a file.
type symbolMetadata struct {
	Type      string `json:"type"`
	BuildID   string `json:"build_id"`  // ELF
	Signature string `json:"signature"` // PE: the bytes of the PDB's GUID in file order
	Age       uint32 `json:"age"`
}

func (t *Table) learnMetadata(e *ntconv.Event) {
	var m clr.MappingMetadata
	if !clr.ParseMappingMetadata(e, &m) {
		t.unreadable(e, "ProcessMappingMetadata is truncated")
		return
	}
	id := buildID(m.Symbol)
	if id == "" {
		return
	}
	p := t.processOf(e)
	t.metadata[mappingKey{p.host, m.ID}] = id
}

// buildID returns the build ID in SymbolMetadata, or "". Recorders write the text without escaping, so it may be
// invalid JSON.
func buildID(text []byte) string {
	var s symbolMetadata
	if len(text) == 0 || json.Unmarshal(text, &s) != nil {
		return ""
	}
	switch strings.ToLower(s.Type) {
	case "elf":
		return strings.ToLower(s.BuildID)
	case "pe":
		if b, err := hex.DecodeString(s.Signature); err == nil && len(b) == 16 {
			return pdbID(ntconv.GUID(b), s.Age)
		}
	}
	return ""
}

// pdbID returns the ID of a PDB as symbol servers spell it: 32 hexadecimal digits, then the age without leading zeros.
func pdbID(signature ntconv.GUID, age uint32) string {
	if signature.IsZero() {
		return ""
	}
	return strings.ReplaceAll(signature.String(), "-", "") + strconv.FormatUint(uint64(age), 16)
}
