package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask runs the command with arguments and standard input.
func ask(t *testing.T, in string, args ...string) string {
	t.Helper()
	o, err := parseArguments(args)
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	defer func() { os.Stdin = old }()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Stdin, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	var out, messages bytes.Buffer
	if err := o.run(&out, &messages); err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	return out.String()
}

// Values have the text that DuckDB gives them.
func TestValues(t *testing.T) {
	for _, value := range []string{
		"1", "-7::BIGINT", "170141183460469231731687303715884105727::HUGEINT", "1.50::DECIMAL(9,2)", "0.1", "1e20", "1.0", "'NaN'::DOUBLE", "1.5::FLOAT", "true", "'a,b'", "''",
		"NULL", "DATE '2026-11-27'", "TIMESTAMP '2026-11-27 01:02:03.5'", "[1,2,NULL]", "['a']", "map {'k': 1}", "INTERVAL '90 minutes'", "-0.05::DECIMAL(9,2)", "12345678901234567890.123::DECIMAL(38,3)", "'-inf'::DOUBLE", "'inf'::FLOAT", "TIME '01:02:03'", "{'a': 1, 'b': 'x'}",
		"'00112233-4455-6677-8899-aabbccddeeff'::UUID",
	} {
		for _, form := range []string{"-csv", "-line"} {
			got, want := ask(t, "SELECT "+value+" AS v", form), ask(t, "SELECT ("+value+")::VARCHAR AS v", form)
			if got != want {
				t.Errorf("%s: %s, want %s", value, got, want)
			}
		}
	}
}

// Each form of a result is that of DuckDB's program, whose output for this query is recorded here.
func TestForms(t *testing.T) {
	const query = "SELECT * FROM (VALUES (1, 'a|b', true), (20, NULL, false)) t(n, text, ok); SET TimeZone = 'UTC'; SELECT 1 WHERE false;"
	for form, want := range map[string]string{
		"-csv":       "n,text,ok\n1,a|b,true\n20,NULL,false\n1\n",
		"-json":      `[{"n":1,"text":"a|b","ok":true},` + "\n" + `{"n":20,"text":null,"ok":false}]` + "\n[]\n",
		"-jsonlines": `{"n":1,"text":"a|b","ok":true}` + "\n" + `{"n":20,"text":null,"ok":false}` + "\n",
		"-markdown":  "",
		"-line":      "   n = 1\ntext = a|b\n  ok = true\n\n   n = 20\ntext = NULL\n  ok = false\n",
	} {
		got := ask(t, query, form)
		if form == "-markdown" { // the widths are not those of the program
			got = strings.Join(strings.Fields(got), " ")
			if !strings.Contains(got, "| 20 | NULL | false |") || !strings.Contains(got, `a\|b`) {
				t.Errorf("%s: %s", form, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", form, got, want)
		}
	}
	if got := ask(t, "", "-version", "-csv"); !strings.HasPrefix(got, "version\nv1.") {
		t.Errorf("version: %s", got)
	}
}

// What is not supported is refused.
func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-html"}, {"a.db", "b.db"}, {"-init"}} {
		if _, err := parseArguments(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	out := ask(t, "SELECT ';' AS a; -- comment ; \nSELECT $$;$$ AS b", "-csv")
	if out != "a\n;\nb\n;\n" {
		t.Errorf("statements: %q", out)
	}
}
