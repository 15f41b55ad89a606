// Speed runs ntconv and dotnet-trace on the same traces, one after the other, and prints their time and memory.
//
//	go run ./speed [-runs 5] [-shared ../../shared] [FILE ...]
//
// Both convert the whole trace to a format for viewers: ntconv to pprof, dotnet-trace (in Microsoft's reference
// archive) to speedscope. The time is the median for the whole command; the memory is the largest resident size of any
// run.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// traces are the default files: the first has the most samples; in the others the start of the program has more weight.
var traces = []string{
	"perfview-dotnetcore3.0-win-x64", "roslyn-compile-net10", "perfview-heartratemonitor-arm32", "perfview-only-managed-samples",
	"filtrace-exceptions-net10",
}

func main() {
	runs := flag.Int("runs", 5, "measured runs of each command")
	root := flag.String("shared", shared(), "directory of traces and of dotnet-trace")
	flag.Parse()
	if err := measure(*root, *runs, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func shared() string {
	if root := os.Getenv("NTCONV_SHARED"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "shared")
}

func measure(root string, runs int, files []string) error {
	dir, err := os.MkdirTemp("", "ntconv-speed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ntconv := filepath.Join(dir, "ntconv.exe")
	build := exec.Command("go", "build", "-o", ntconv, "./cmd/ntconv")
	build.Dir, build.Stderr = "..", os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	if len(files) == 0 {
		if files, err = unpackAll(root, dir); err != nil {
			return err
		}
	}
	fmt.Println(
		"| trace | MB | dotnet-trace | ntconv | times faster | times less CPU time | dotnet-trace peak | ntconv peak |",
	)
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, file := range files {
		if err := compare(root, dir, ntconv, file, runs); err != nil {
			return err
		}
	}
	return nil
}

func unpackAll(root, dir string) (files []string, err error) {
	for _, name := range traces {
		file := filepath.Join(dir, name+".nettrace")
		if err := unpack(filepath.Join(root, "data", "nettrace", name+".nettrace.zst"), file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// unpack decompresses a file with zstd in a separate process, because memory of this process would count as a peak of
// the processes that it starts.
func unpack(from, to string) error {
	cmd := exec.Command("zstd", "-dqf", from, "-o", to)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// A cost is the cost of one run.
type cost struct {
	wall, processor time.Duration
	peak            int64 // bytes
}

// compare runs both commands alternately, so that other load on the machine affects both. The first run of each is not
// measured, because dotnet-trace extracts itself then, and files are read into memory.
func compare(root, dir, ntconv, file string, runs int) error {
	var theirs, ours []cost
	for i := range runs + 1 {
		a, err := run(
			filepath.Join(root, "oracle", "traceevent"),
			"convert",
			"--format",
			"Speedscope",
			"-o",
			filepath.Join(dir, "out"),
			file,
		)
		if err != nil {
			return err
		}
		b, err := run(ntconv, "to", "pprof", file, "-q", "-f", "-o", filepath.Join(dir, "out.pb.gz"))
		if err != nil {
			return err
		}
		if i > 0 {
			theirs, ours = append(theirs, a), append(ours, b)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	a, b := summary(theirs), summary(ours)
	fmt.Printf(
		"| %s | %.1f | %.0f ms | %.1f ms | %.1f | %.1f | %.0f MB | %.0f MB |\n",
		strings.TrimSuffix(filepath.Base(file), ".nettrace"),
		float64(info.Size())/1e6,
		float64(a.wall)/1e6,
		float64(b.wall)/1e6,
		float64(a.wall)/float64(b.wall),
		float64(a.processor)/float64(b.processor),
		float64(a.peak)/1e6,
		float64(b.peak)/1e6,
	)
	return nil
}

func run(name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	p := cmd.ProcessState
	return cost{time.Since(start), p.UserTime() + p.SystemTime(), peak(p)}, nil
}

// summary returns the median of times and the highest peak.
func summary(list []cost) (c cost) {
	var wall, processor []time.Duration
	for _, r := range list {
		wall, processor = append(wall, r.wall), append(processor, r.processor)
		c.peak = max(c.peak, r.peak)
	}
	slices.Sort(wall)
	slices.Sort(processor)
	c.wall, c.processor = wall[len(wall)/2], processor[len(processor)/2]
	return c
}
