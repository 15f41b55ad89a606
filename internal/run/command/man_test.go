package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unroff is the text of a page: the inverse of roff, without macros and fonts.
func unroff(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".SS ") || strings.HasPrefix(line, ".BR ") {
			line = line[4:]
		} else if strings.HasPrefix(line, ".") {
			continue
		}
		b.WriteString(line)
	}
	return strings.NewReplacer(`\fB`, "", `\fR`, "", `\&`, "", `\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~").Replace(b.String())
}

// Every command and topic has a page, with every word of its help.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if r := invoke(t, dir, nil, "man", dir, "--date", "2026-11-23"); r.code != exitOK || r.stdout+r.stderr != "" {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	pages := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		pages++
		page, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		name, section, _ := strings.Cut(filepath.Base(path), ".")
		if want := ".TH " + roff(strings.ToUpper(name)) + " " + section + ` "2026-11-23" `; !strings.HasPrefix(string(page), want) {
			t.Errorf("%s begins with %.60q, want %q", path, page, want)
		}
		text := map[string]bool{}
		for word := range strings.FieldsSeq(unroff(string(page))) {
			text[strings.ToLower(word)] = true
		}
		words := strings.Split(name, "-")[1:]
		if name == "ntconv-exit-codes" {
			words = []string{"exit-codes"}
		}
		help := invoke(t, dir, nil, append([]string{"help"}, words...)...).stdout
		for _, skipped := range []string{"Usage:\n", "\nExamples:", "\nCommands:", "\nTopics, shown by ntconv help TOPIC:", "\nFlags:", "\nLimits: see ntconv help limits", "see ntconv help limits"} {
			help = strings.Replace(help, skipped, "", 1)
		}
		for word := range strings.FieldsSeq(help) {
			if word = strings.ToLower(strings.TrimSuffix(word, ":")); !text[word] && !text[word+":"] {
				t.Errorf("%s lacks %q of the help", path, word)
			}
		}
		return nil
	})
	if err != nil || pages < 30 {
		t.Errorf("%d pages, %v", pages, err)
	}
	if !exists(filepath.Join(dir, "man7", "ntconv-where.7")) || !exists(filepath.Join(dir, "man1", "ntconv-to-pprof.1")) {
		t.Error("pages are missing")
	}
	if strings.Contains(invoke(t, dir, nil, "--help").stdout, " man ") {
		t.Error("--help lists a command that is not for users")
	}
}

// Text with characters of roff stays text.
func TestRoff(t *testing.T) {
	const text = ".SH 'quoted' \\fB --flag ^~`"
	if got := unroff(roff(text) + "\n"); got != text+"\n" {
		t.Errorf("%q, want %q", got, text)
	}
}
