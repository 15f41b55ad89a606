package convert_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestSymbolsSetting checks that files of symbols are used only if the settings name them.
func TestSymbolsSetting(t *testing.T) {
	dir := t.TempDir()
	const text = "7f0000000000 ffffffffff generated_code\n" // all libraries and generated code of the process
	if err := os.WriteFile(filepath.Join(dir, "perf-17984.map"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NTCONV_LOCAL_SYMBOLS", "true") // has no effect on the library
	fold := func(settings map[string]string) []byte {
		name := filepath.Join(t.TempDir(), "out.folded")
		if _, err := convert.File(t.Context(), name, &convert.Options{Settings: settings}, nil, corpus.Path("cpu-v6.nettrace.zst")); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain, named := fold(nil), fold(map[string]string{"symbols": dir})
	if bytes.Contains(plain, []byte("generated_code")) || !bytes.Contains(named, []byte("generated_code")) {
		t.Error("the perf map names no code, or names it without the setting")
	}
	if !bytes.Equal(plain, fold(map[string]string{"local-symbols": "false"})) {
		t.Error("files of this machine are used by default")
	}
}

// TestCanceledDownload checks that a conversion that is canceled does not wait for a server with symbols.
func TestCanceledDownload(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done() // the client hangs up
	}))
	defer server.Close()
	name := filepath.Join(t.TempDir(), "out.folded")
	o := &convert.Options{Settings: map[string]string{"debuginfod": server.URL}}
	_, err := convert.File(ctx, name, o, nil, corpus.Path("cpu-v6.nettrace.zst"))
	if !errors.Is(err, context.Canceled) || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an output was written: %v", err)
	}
}
