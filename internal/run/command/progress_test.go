package command

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// After stop, the progress line is empty and is not drawn again. Every drawing
// shows the true rate, including the first one. Time is that of the bubble.
func TestProgressEnds(t *testing.T) {
	const rate = 50 << 20 // bytes per second
	for _, size := range []int64{-1, 10 * rate} {
		for length := 100 * time.Millisecond; length < 3*time.Second; length += 70 * time.Millisecond {
			t.Run(fmt.Sprint(size, length), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var out bytes.Buffer
					start := time.Now()
					stop := showProgress(&out, func() string { return "reading" }, size, func() int64 { return int64(time.Since(start)) * rate / 1e9 })
					time.Sleep(length)
					synctest.Wait()
					stop()
					drawn := out.String()
					if rest := drawn[strings.LastIndex(drawn, "\r")+1:]; rest != "" {
						t.Errorf("%q is left on the line", rest)
					}
					lines := regexp.MustCompile(`\r[^\r]*reading[^\r]*`).FindAllString(drawn, -1)
					if len(lines) != int(length/(200*time.Millisecond)) {
						t.Errorf("%d drawings in %v", len(lines), length)
					}
					for _, line := range lines {
						if !strings.Contains(line, "(50 MiB/s)") {
							t.Errorf("%q, want 50 MiB/s", line)
						}
					}
					time.Sleep(time.Second)
					synctest.Wait()
					if more := out.String()[len(drawn):]; more != "" {
						t.Errorf("%q was drawn after the end", more)
					}
				})
			})
		}
	}
}

// A source that delivers nothing for a while does not stop the displayed clock.
func TestProgressWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := showProgress(&out, func() string { return "reading" }, -1, func() int64 { return 1000 })
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		stop()
		if !strings.Contains(out.String(), "[5s]") {
			t.Errorf("%q has no fifth second", out.String())
		}
	})
}

// TestProgressLine: what a user reads, and that a name cannot give commands to the terminal.
func TestProgressLine(t *testing.T) {
	start := time.Unix(1e9, 0)
	for _, c := range []struct {
		what       string
		size, read int64
		after      time.Duration
		want       string
	}{
		{"reading", 400 << 20, 100 << 20, 2 * time.Second, "\rreading  25% |=======                       | (50 MiB/s) [2s:6s]"},
		{"reading", 100, 100, time.Second, "\rreading 100% |==============================| (100 B/s) [1s]"},
		{"reading", 100, 0, 0, "\rreading   0% |                              | (0 B/s) [0s]"},
		{"reading", 100, 300, time.Second, "\rreading 100% |==============================| (300 B/s) [1s]"}, // the file has grown
		{"copying", -1, 2_540_000_000, 1500 * time.Millisecond, "\rcopying 2.37 GiB (1.58 GiB/s) [1s]"},
	} {
		var out bytes.Buffer
		p := progressLine{w: &out, size: c.size, start: start}
		p.draw(c.what, c.read, start.Add(c.after))
		if out.String() != c.want {
			t.Errorf("got  %q\nwant %q", out.String(), c.want)
		}
	}
	for width := range 60 { // a line that is wider than the terminal would remain on it
		var out bytes.Buffer
		p := progressLine{w: &out, start: start, limit: func() int { return width }}
		p.draw("recording, 8s, 15,809 events, hottest Shop.Cpu.Spin(double) (91%)", 1000, start.Add(8*time.Second))
		line := strings.TrimPrefix(out.String(), "\r")
		if width > 1 && (textWidth(line) > width-1 || width > 30 && !strings.HasSuffix(line, "… 0.98 KiB (125 B/s) [8s]")) {
			t.Errorf("%d columns: %q", width, line)
		}
	}
	var out bytes.Buffer
	p := progressLine{w: &out, start: start}
	p.draw("verifying \x1b[2J\x9b\xff\n", 1, start.Add(time.Second))
	p.draw("", 1, start.Add(time.Second))
	p.clear()
	for _, r := range strings.ReplaceAll(out.String(), "\r", "") {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			t.Errorf("%q goes to the terminal", out.String())
		}
	}
	if strings.Contains(out.String(), "\x9b") || strings.Contains(out.String(), "\xff") {
		t.Errorf("%q goes to the terminal", out.String())
	}
}
