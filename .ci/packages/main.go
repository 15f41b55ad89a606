// Command packages builds what a release consists of: an archive per platform, .deb and .rpm packages for Linux, a
// software bill of materials per platform, and the checksums of all files. Equal commits give equal bytes.
//
// It runs in the root of the repository. Packages are written by nfpm, which go run builds; it is not a tool of go.mod,
// because its modules would become dependencies of ntconv.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	r := release{}
	platforms := ""
	flag.StringVar(&platforms, "platforms", runtime.GOOS+"/"+runtime.GOARCH, "os/arch `pairs`, with spaces between them")
	flag.StringVar(&r.version, "version", "", "`version` of the release (default: from the last tag v* of git, or the commit)")
	flag.StringVar(&r.dir, "o", "dist", "`directory` of the files; its contents are replaced")
	flag.StringVar(&r.nfpm, "nfpm", "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0", "`package` of nfpm; empty means no .deb and .rpm")
	flag.Parse()
	r.platforms = strings.Fields(platforms)
	if err := r.build(); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// A release is a set of files for one version.
type release struct {
	version   string
	commit    string
	date      time.Time // of the commit; all files have it as their time of modification
	dir       string
	nfpm      string
	platforms []string
	licenses  map[string]string // by module path
	shared    []file            // of all platforms: documents, manual pages, completions
	host      string            // file name of the binary for this machine
}

// A file is a file of an archive or package.
type file struct {
	name string // in an archive
	path string // in a package, absolute; "" if packages do not have it
	mode int64
	data []byte
}

func (r *release) build() error {
	if err := r.describe(); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.dir), os.MkdirAll(r.dir, 0o777)); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "ntconv-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := r.share(temp); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if err := r.platform(p, filepath.Join(temp, filepath.FromSlash(p))); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return r.checksums()
}

// describe sets the version, the commit and its date.
func (r *release) describe() error {
	show, err := output("git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(show, " ")
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("date of the commit: %w", err)
	}
	r.commit, r.date = commit, time.Unix(at, 0).UTC()
	if r.version != "" {
		r.version = strings.TrimPrefix(r.version, "v")
		return nil
	}
	if tag, err := output("git", "describe", "--tags", "--match", "v[0-9]*", "--exact-match"); err == nil {
		r.version = strings.TrimPrefix(tag, "v")
		return nil
	}
	// ~ sorts before everything: a package of a commit is older than that of the first release.
	r.version = "0.0.0~git" + r.date.Format("20060102.150405") + "." + commit[:12]
	return nil
}

// share collects the files that do not depend on the platform. The binary of this machine writes the manual pages and
// completions.
func (r *release) share(temp string) error {
	bin := filepath.Join(temp, "ntconv-host"+extension(runtime.GOOS))
	if err := r.compile(bin, runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	r.host = bin
	add := func(name, path string, data []byte) { r.shared = append(r.shared, file{name, path, 0o644, data}) }
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		add(name, "/usr/share/doc/ntconv/"+name, data)
	}
	for shell, path := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/ntconv", "zsh": "/usr/share/zsh/vendor-completions/_ntconv",
		"fish": "/usr/share/fish/vendor_completions.d/ntconv.fish", "powershell": "",
	} {
		script, err := exec.Command(bin, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("ntconv completion %s: %w", shell, err)
		}
		add("completions/ntconv."+shell, path, script)
	}
	manual := filepath.Join(temp, "man")
	if _, err := output(bin, "man", manual, "--date", r.date.Format(time.DateOnly)); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(manual, "man*", "*"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("%d manual pages, %w", len(pages), err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		section := filepath.Base(filepath.Dir(page))
		add("man/"+section+"/"+filepath.Base(page), "/usr/share/man/"+section+"/"+filepath.Base(page)+".gz", data)
	}
	slices.SortFunc(r.shared, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return r.readLicenses()
}

// readLicenses asks the license check for the license of each module.
func (r *release) readLicenses() error {
	list, err := output("go", "run", "./.ci/licenses", "-platforms", strings.Join(r.platforms, " "))
	if err != nil {
		return err
	}
	r.licenses = map[string]string{}
	for line := range strings.Lines(list) {
		// Names of licenses and versions have no spaces, except between several licenses: "Apache-2.0, MIT".
		if license, rest, ok := strings.Cut(strings.ReplaceAll(line, ", ", ","), " "); ok {
			if module := strings.Fields(rest); len(module) == 2 {
				r.licenses[module[0]] = license
			}
		}
	}
	return nil
}

// platform writes the files of a platform.
func (r *release) platform(platform, temp string) error {
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return err
	}
	goos, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want os/arch")
	}
	bin := r.host
	if goos != runtime.GOOS || arch != runtime.GOARCH {
		bin = filepath.Join(temp, "ntconv"+extension(goos))
		if err := r.compile(bin, goos, arch); err != nil {
			return err
		}
	}
	binary, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	base := fmt.Sprintf("ntconv-%s-%s-%s", strings.ReplaceAll(r.version, "~", "-"), goos, arch)
	bill, err := r.bill(bin, binary, goos, arch)
	if err != nil {
		return err
	}
	files := slices.Concat([]file{
		{"ntconv" + extension(goos), "/usr/bin/ntconv", 0o755, binary},
		{"ntconv.cdx.json", "/usr/share/doc/ntconv/ntconv.cdx.json", 0o644, bill},
	}, r.shared)
	archive, ext, err := r.archive(goos, base, files)
	if err != nil {
		return err
	}
	if err := errors.Join(r.write(base+ext, archive), r.write(base+".cdx.json", bill)); err != nil {
		return err
	}
	if goos != "linux" || r.nfpm == "" {
		return nil
	}
	return r.linuxPackages(arch, temp, files)
}

// compile builds the command as make build does. The version is stated because a build in a checkout has none.
func (r *release) compile(bin, goos, arch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-o", bin, "./cmd/ntconv")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}

func extension(goos string) string {
	if goos == "windows" {
		return ".exe"
	}
	return ""
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	fmt.Printf("%-64s %9d bytes\n", name, len(data))
	return os.WriteFile(filepath.Join(r.dir, name), data, 0o666)
}

// checksums writes the file that sha256sum --check reads.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return r.write("SHA256SUMS", b.Bytes())
}

// output runs a command and returns what it prints, without space at the end.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
