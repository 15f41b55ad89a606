// Command packages builds what a release consists of: for each program an archive per platform, .deb and .rpm packages
// for Linux, a software bill of materials per platform, and the checksums of all files. Equal commits give equal bytes.
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

	"github.com/ntconv/ntconv/.ci/programs"
)

func main() {
	r := release{}
	platforms, names := "", ""
	flag.StringVar(&names, "programs", programs.Names(), "`names` of the programs, with spaces between them")
	flag.StringVar(&platforms, "platforms", runtime.GOOS+"/"+runtime.GOARCH, "os/arch `pairs`, with spaces between them")
	flag.StringVar(&r.version, "version", "", "`version` of the release (default: from the last tag v* of git, or the commit)")
	flag.StringVar(&r.dir, "o", "dist", "`directory` of the files; its contents are replaced")
	flag.StringVar(&r.nfpm, "nfpm", "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0", "`package` of nfpm; empty means no .deb and .rpm")
	flag.Parse()
	r.platforms = strings.Fields(platforms)
	list, err := programs.Named(names)
	if err == nil {
		err = r.build(list)
	}
	if err != nil {
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
}

// A program is a program of a release.
type program struct {
	*release
	programs.Program
	licenses map[string]string // by module path
	bundled  []component       // compiled libraries that are no modules
	shared   []file            // of all platforms: documents, manual pages, completions
	host     string            // file name of the binary for this machine, "" before it is built
}

// A file is a file of an archive or package.
type file struct {
	name string // in an archive
	path string // in a package, absolute; "" if packages do not have it
	mode int64
	data []byte
}

func (r *release) build(list []programs.Program) error {
	if err := r.describe(); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.dir), os.MkdirAll(r.dir, 0o777)); err != nil {
		return err
	}
	for _, one := range list {
		p := &program{release: r, Program: one}
		if err := p.build(); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return r.checksums()
}

// build writes the files of a program.
func (p *program) build() error {
	temp, err := os.MkdirTemp("", "ntconv-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var platforms []string
	for _, platform := range p.platforms {
		goos, arch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("platform %s: want os/arch", platform)
		}
		if !p.Builds(goos, arch) {
			fmt.Printf("%s: not for %s: its C++ library is linked for the platform of this machine only\n", p.Name, platform)
			continue
		}
		platforms = append(platforms, platform)
	}
	if err := p.share(temp); err != nil {
		return err
	}
	if err := p.readLicenses(platforms); err != nil {
		return err
	}
	for _, platform := range platforms {
		if err := p.platform(platform, filepath.Join(temp, filepath.FromSlash(platform))); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return nil
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

// share collects the files that do not depend on the platform.
func (p *program) share(temp string) error {
	for name, from := range map[string]string{
		"README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md", "LICENSE": "LICENSE", "THIRD_PARTY.md": filepath.Join(p.Dir, "THIRD_PARTY.md"),
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		p.add(name, "/usr/share/doc/"+p.Name+"/"+name, data)
	}
	if p.Complete {
		if err := p.manual(temp); err != nil {
			return err
		}
	}
	slices.SortFunc(p.shared, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return nil
}

// add adds a file of all platforms.
func (p *program) add(name, path string, data []byte) {
	p.shared = append(p.shared, file{name, path, 0o644, data})
}

// manual adds the manual pages and completions, which the binary of this machine writes.
func (p *program) manual(temp string) error {
	bin := filepath.Join(temp, "host"+extension(runtime.GOOS))
	if err := p.compile(bin, runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	p.host = bin
	for shell, path := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/ntconv", "zsh": "/usr/share/zsh/vendor-completions/_ntconv",
		"fish": "/usr/share/fish/vendor_completions.d/ntconv.fish", "powershell": "",
	} {
		script, err := exec.Command(bin, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("ntconv completion %s: %w", shell, err)
		}
		p.add("completions/ntconv."+shell, path, script)
	}
	manual := filepath.Join(temp, "man")
	if _, err := output(bin, "man", manual, "--date", p.date.Format(time.DateOnly)); err != nil {
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
		p.add("man/"+section+"/"+filepath.Base(page), "/usr/share/man/"+section+"/"+filepath.Base(page)+".gz", data)
	}
	return nil
}

// readLicenses asks the license check for the license of each module and of each library in a compiled one.
func (p *program) readLicenses(platforms []string) error {
	list, err := output("go", "run", "./.ci/licenses", "-program", p.Name, "-platforms", strings.Join(platforms, " "))
	if err != nil {
		return err
	}
	p.licenses = map[string]string{}
	for line := range strings.Lines(list) {
		// Names of licenses and versions have no spaces, except between several licenses: "Apache-2.0, MIT".
		license, rest, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), ", ", ","), " ")
		at := strings.LastIndexByte(rest, ' ')
		if at < 0 {
			continue // a module has a version
		}
		name, version := strings.TrimSpace(rest[:at]), rest[at+1:]
		p.licenses[name] = license
		if library, ok := strings.CutPrefix(name, "duckdb/"); ok {
			p.bundled = append(p.bundled, bundledLibrary(library, version, license))
		}
	}
	return nil
}

// platform writes the files of a platform.
func (p *program) platform(platform, temp string) error {
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return err
	}
	goos, arch, _ := strings.Cut(platform, "/")
	bin := p.host
	if bin == "" || goos != runtime.GOOS || arch != runtime.GOARCH {
		bin = filepath.Join(temp, p.Name+extension(goos))
		if err := p.compile(bin, goos, arch); err != nil {
			return err
		}
	}
	binary, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	base := fmt.Sprintf("%s-%s-%s-%s", p.Name, strings.ReplaceAll(p.version, "~", "-"), goos, arch)
	bill, err := p.bill(bin, binary, goos, arch)
	if err != nil {
		return err
	}
	files := slices.Concat([]file{
		{p.Name + extension(goos), "/usr/bin/" + p.Name, 0o755, binary},
		{p.Name + ".cdx.json", "/usr/share/doc/" + p.Name + "/" + p.Name + ".cdx.json", 0o644, bill},
	}, p.shared)
	archive, ext, err := p.archive(goos, base, files)
	if err != nil {
		return err
	}
	if err := errors.Join(p.write(base+ext, archive), p.write(base+".cdx.json", bill)); err != nil {
		return err
	}
	if goos != "linux" || p.nfpm == "" {
		return nil
	}
	return p.linuxPackages(arch, temp, files)
}

// compile builds the program as the Makefile does. The version is stated because a build in a checkout has none.
func (p *program) compile(bin, goos, arch string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags", p.LDFlags, "-o", bin, p.Package)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Environment(goos, arch)...)
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
