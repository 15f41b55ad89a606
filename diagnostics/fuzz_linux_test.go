package diagnostics

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unicode/utf8"
)

// valid returns an answer with a payload.
func valid(id byte, payload string) []byte {
	n := headerSize + len(payload)
	return []byte(magic + string([]byte{byte(n), byte(n >> 8), answerSet, id, 0, 0}) + payload)
}

// FuzzAnswer decodes the bytes that follow a request as the answer to each kind of request.
func FuzzAnswer(f *testing.F) {
	text := "\x03\x00\x00\x00a\x00b\x00\x00\x00"
	f.Add(valid(answerOK, string(make([]byte, 24))+text+text+text+text+text))
	f.Add(valid(answerOK, "\x01\x00\x00\x00"+string(make([]byte, 24))+text+text+text+text+text+text))
	f.Add(append(valid(answerOK, "\x0d\x00\x00\x00\x00\x00"), "\x01\x00\x00\x00"+text...))
	f.Add(valid(answerError, "\x85\x13\x13\x80"))
	f.Add(valid(answerOK, "\x15\x15\x13\x80"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		payload, err := readAnswer(in, processInfo3)
		if err != nil {
			if known := (*Error)(nil); !errors.Is(err, ErrProtocol) && !errors.As(err, &known) && err != io.EOF {
				t.Fatal(err)
			}
			return
		}
		if read := len(b) - in.Len(); read != headerSize+len(payload) {
			t.Fatalf("read %d bytes of an answer with %d", read, headerSize+len(payload))
		}
		for _, c := range []command{processInfo, processInfo2, processInfo3} {
			info, err := parseInfo(payload, c)
			if err != nil && !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			for _, s := range []string{info.CommandLine, info.OS, info.Arch, info.Assembly, info.Runtime, info.RID} {
				if !utf8.ValidString(s) || len(s) > 3*len(payload) {
					t.Fatalf("%q", s)
				}
			}
		}
		_ = parseResult(payload, resumeRuntime)
		env, err := readEnvironment(in, payload)
		if err != nil && !errors.Is(err, ErrProtocol) || len(env) > len(b) {
			t.Fatalf("%d variables, %v", len(env), err)
		}
	})
}

// FuzzAdvertisement decodes what connects to a port.
func FuzzAdvertisement(f *testing.F) {
	f.Add([]byte("ADVR_V1\x00" + string(make([]byte, 26))))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAdvertisement(b)
		if err != nil && !errors.Is(err, ErrProtocol) || err == nil && (len(b) != advertisementSize || !bytes.Contains(b, a.Cookie[:])) {
			t.Fatalf("%+v, %v", a, err)
		}
	})
}

// FuzzProc parses files of /proc, and names of files.
func FuzzProc(f *testing.F) {
	f.Add([]byte("1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"))
	f.Add([]byte("Uid:\t0\t0\t0\t0\nNSpid:\t12\t1\n"))
	f.Add([]byte("A=1\x00TMPDIR=/var/tmp\x00"))
	f.Add([]byte("0::/system.slice/docker-0123456789abcdef.scope\n"))
	f.Add([]byte("00000000415c6b98: 00000002 00000000 00010000 0001 01 124780 /tmp/dotnet-diagnostic-22000-201580-socket\n"))
	f.Add([]byte("dotnet-diagnostic-22000-201580-socket"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseStat(b); err == nil && len(s.comm) > len(b) {
			t.Fatal(s)
		}
		if s := parseStatus(b); s.inner < 0 {
			t.Fatal(s)
		}
		if dir := parseTMPDIR(b); dir != "" && (dir[0] != '/' || bytes.Contains([]byte(dir+"/"), []byte("/../"))) {
			t.Fatal(dir)
		}
		if id := parseContainer(b); id != "" && (len(id) < 12 || len(id) > 64) {
			t.Fatal(id)
		}
		for name := range parseNetUnix(bytes.NewReader(b)) {
			if bytes.ContainsRune([]byte(name), '/') && name != "/" {
				t.Fatal(name)
			}
		}
		programName(b)
		if pid, _, ok := parseSocketName(string(b)); ok && pid <= 0 {
			t.Fatal(pid)
		}
	})
}
