package scrub

import (
	"strings"
	"testing"
)

// replaced returns the replacement of a text by the default policy.
func replaced(t *testing.T, r *rewriter, class, s string) string {
	t.Helper()
	out := r.replace([]byte(s), encUTF8, r.policy.class(class))
	return string(out)
}

// A name has one pseudonym wherever it occurs, in any case, encoding and trace.
func TestPseudonymsAreConsistent(t *testing.T) {
	p, _ := classesOf(t)
	a, b := newRewriter(p, []byte("key"), false), newRewriter(p, []byte("key"), false)
	name := replaced(t, a, classText, "alice")
	if name == "alice" || len(name) != 5 || name != strings.ToLower(name) {
		t.Fatalf("alice became %q", name)
	}
	for class, texts := range map[string][]string{
		"path":         {"/home/alice/x", `C:\Users\Alice\x`},
		"url":          {"https://alice@example.org/alice?u=alice", "/?q=%61lice", "/ALICE"},
		"command-line": {"tool --user=alice", "alice"},
		"log":          {`{"user":"alice"}`, `{"user":"\u0061lice"}`},
		"module":       {"/home/alice/x.dll"},
		"sql":          {"SELECT * FROM t WHERE name = 'alice'"},
	} {
		for _, text := range texts {
			out := replaced(t, b, class, text)
			plain := strings.ToLower(out)
			if strings.Contains(text, "%61") || strings.Contains(text, `\u0061`) {
				if !strings.Contains(plain, name[1:]) || strings.Contains(plain, "lice") { // the first letter is escaped
					t.Errorf("%s: %q became %q, without the end of %q", class, text, out, name)
				}
				continue
			}
			if strings.Count(plain, name) != strings.Count(strings.ToLower(text), "alice") || strings.Contains(plain, "alice") {
				t.Errorf("%s: %q became %q, which does not contain %q", class, text, out, name)
			}
		}
	}
	if other := replaced(t, newRewriter(p, []byte("another key"), false), classText, "alice"); other == name {
		t.Error("another key yields the same pseudonym")
	}
}

// Short words and numbers have different pseudonyms, which are not the words themselves.
func TestShortWordsStayDifferent(t *testing.T) {
	d := newDictionary([]byte("key"))
	for _, c := range []struct {
		from, to int
		format   func(int) string
	}{
		{1, 10, number}, {10, 100, number}, {100, 1000, number}, {1000, 10000, number},
		{0, 26, letters(1)}, {0, 26 * 26, letters(2)}, {0, 26 * 26 * 26, letters(3)},
	} {
		seen := map[string]bool{}
		for n := c.from; n < c.to; n++ {
			word := c.format(n)
			out := string(d.plain([]byte(word)))
			if out == word || len(out) != len(word) || seen[out] || c.from == 100 && (word < "256") != (out < "256") {
				t.Fatalf("%q became %q", word, out)
			}
			seen[out] = true
		}
	}
}

func number(n int) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

func letters(count int) func(int) string {
	return func(n int) string {
		s := ""
		for range count {
			s, n = string(rune('a'+n%26))+s, n/26
		}
		return s
	}
}

// Structure stays: what a parser of paths, URLs, JSON, SQL and addresses sees.
func TestStructureOfTexts(t *testing.T) {
	p, _ := classesOf(t)
	r := newRewriter(p, []byte("key"), false)
	for _, c := range []struct{ class, text, keeps string }{
		{"path", "/usr/lib/app/secret.json", "/usr/lib/*/*.json"},
		{"module", "/home/ann/Shop.dll", "/home/*/Shop.dll"},
		{"url", "https://host.example:8443/a/b?c=d#e", "https://*.*:8443/*/*?*=*#*"},
		{"url", "https://user:12345@host/", "https://*:*@*/"},
		{"sql", "SELECT name FROM users WHERE id = 42", "SELECT * FROM * WHERE * = *"},
		{"log", `{"user":"ann","n":[-1.5e+10,true,null]}`, `{"*":"*","n*":[-*.*e+10,true,null]}`},
		{"address", "127.0.0.1:80 and ::1", "127.0.0.1:80 * ::1"},
		{"exception", "NULL", "NULL"},
		{"label", "[http.request.method, GET],[http.response.status_code, 404],[tenant, acme]",
			"[http.request.method, GET],[http.response.status_code, 404],[*, *]"},
		{"command-line", "dotnet app.dll --urls http://host:5000", "dotnet *.dll --* http://*:5000"},
		{"number", "0.5=12;0.95=20", "0.5=12;0.95=20"},
		{"number", "secret", "*"},
		{"id", "00-8c6ec827cc1fdeea75cf27ddf84ac5c7-b0c4184860eb0fc5-01", "00-8c6ec827cc1fdeea75cf27ddf84ac5c7-b0c4184860eb0fc5-01"},
		{"id", "secret", "*"},
		{"enum", "Server", "Server"},
		{"enum", "secret", "*"},
		{"method", "[/home/ann/x.so]", "[/home/*/x.so]"},
		{"method", "System.String.Concat", "System.String.Concat"},
	} {
		out := replaced(t, r, c.class, c.text)
		if len(out) != len(c.text) || !matches(strings.ReplaceAll(c.keeps, "n*", "*"), out) || !strings.Contains(c.keeps, "*") && out != c.text ||
			strings.Contains(c.keeps, "*") && out == c.text {
			t.Errorf("%s: %q became %q, want %q", c.class, c.text, out, c.keeps)
		}
	}
}

// matches reports whether a text has the parts of a pattern in order. Parts are separated by *.
func matches(pattern, s string) bool {
	for i, part := range strings.Split(pattern, "*") {
		at := strings.Index(s, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		s = s[at+len(part):]
	}
	return true
}
