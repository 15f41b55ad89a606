package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fetched is the response that a page in a browser received.
type fetchedFile struct {
	Status   int64
	Type     string
	Error    string
	Failures []string
	Origin   string
	Name     string
	Bytes    int64
	SHA256   string
}

// play lets a page in a browser fetch the file that ntconv view offers.
func play(t *testing.T, address ...string) fetchedFile {
	t.Helper()
	return script[fetchedFile](t, 1, "node", append([]string{"play.mjs"}, address...)...)[0]
}

func gunzipFile(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	b, err := io.ReadAll(z)
	must(t, err)
	return b
}

// A page of the viewer's origin, with the security policy of the real page, fetches the output of ntconv to from the
// address that ntconv view prints. A page of another origin receives nothing, although the user permits it to connect
// to this machine. Then the command ends.
func TestViewersFetch(t *testing.T) {
	needBrowser(t)
	in := find(t, "cpu-env").path
	for _, name := range []string{"perfetto", "firefox", "speedscope"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.gz") // the page receives it decompressed
			succeed(t, "to", name, in, "-o", path)
			want := gunzipFile(t, path)
			cmd := exec.Command(command, "view", "--in", name, in)
			var msg bytes.Buffer
			cmd.Stderr = &msg
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill() }()
			lines := bufio.NewReader(out)
			address, err := lines.ReadString('\n')
			if err != nil {
				_ = cmd.Wait() // the message is complete
				if strings.Contains(msg.String(), "address already in use") {
					t.Skipf("the only port for the viewer is in use on this system: %s", msg.Bytes())
				}
				t.Fatalf("%v: %s", err, msg.Bytes())
			}
			address = strings.TrimSpace(address)
			other := play(t, address, "https://example.com")
			if other.Error == "" || other.Bytes > 0 || !strings.Contains(strings.Join(other.Failures, "\n"), "Access-Control-Allow-Origin") {
				t.Errorf("a page of %s gets %+v", other.Origin, other)
			}
			got, sum := play(t, address), sha256.Sum256(want)
			if got.Error != "" || got.Status != 200 || got.Bytes != int64(len(want)) || got.SHA256 != fmt.Sprintf("%x", sum) {
				t.Errorf("a page of %s gets %+v, want %d bytes with the hash %x", got.Origin, got, len(want), sum)
			}
			if !strings.HasPrefix(address, got.Origin+"/") || !strings.HasPrefix(got.Name, "cpu-env.") {
				t.Errorf("%s: %+v", address, got)
			}
			if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
				t.Errorf("%v: %s", err, rest)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, msg.Bytes())
			}
		})
	}
}
