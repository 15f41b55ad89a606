package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// archive returns a .zip archive for Windows and a .tar.gz archive for other systems, with the files in one directory.
func (r *release) archive(goos, dir string, files []file) (data []byte, ext string, err error) {
	if goos == "windows" {
		data, err = r.zip(dir, files)
		return data, ".zip", err
	}
	data, err = r.tarball(dir, files)
	return data, ".tar.gz", err
}

func (r *release) tarball(dir string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: dir + "/" + f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.date, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

func (r *release) zip(dir string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: r.date}
		h.SetMode(os.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// nfpmHeader is the beginning of the configuration of nfpm. There are no dependencies, because the binaries are static.
const nfpmHeader = `name: %[1]s
arch: %[2]s
platform: linux
version: %[3]q
version_schema: none
section: devel
priority: optional
maintainer: The ntconv authors <ntconv@example.com>
description: |
  %[5]s.
  %[6]s
homepage: https://github.com/ntconv/ntconv
license: Apache-2.0
mtime: %[4]s
rpm:
  buildhost: localhost
  compression: gzip:6 # the default level, 9, takes three times as long and saves little
  group: Development/Tools
  summary: %[5]s
contents:
`

// linuxPackages writes a .deb and an .rpm package.
func (p *program) linuxPackages(arch, temp string, files []file) error {
	at := p.date.Format("2006-01-02T15:04:05Z")
	var config strings.Builder
	fmt.Fprintf(&config, nfpmHeader, p.Name, arch, p.version, at, p.Summary, p.Text)
	for i, f := range files {
		if f.path == "" {
			continue
		}
		data, err := f.packed()
		if err != nil {
			return err
		}
		src := filepath.Join(temp, strconv.Itoa(i))
		if err := os.WriteFile(src, data, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&config, "  - src: %s\n    dst: %s\n", src, f.path)
		fmt.Fprintf(&config, "    file_info: {mode: 0%o, mtime: %s, owner: root, group: root}\n", f.mode, at)
	}
	name := filepath.Join(temp, "nfpm.yaml")
	if err := os.WriteFile(name, []byte(config.String()), 0o666); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		cmd := exec.Command("go", "run", p.nfpm, "package", "-f", name, "-p", kind, "-t", p.dir)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(p.date.Unix(), 10))
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("nfpm: %w\n%s", err, text)
		}
	}
	return nil
}

// packed returns the contents of a file in a package: manual pages are compressed.
func (f *file) packed() ([]byte, error) {
	if !strings.HasSuffix(f.path, ".gz") {
		return f.data, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(f.data); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}
