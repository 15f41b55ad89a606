package formats

import (
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/parquet"
)

// The memory for one input follows --max-memory only if that is small, and the error then
// names its flag.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		memory int64
		want   int
	}{{0, 100}, {1 << 40, 100}, {400, 100}, {396, 99}, {4, 1}, {1, 1}} {
		o := ReadOptions{Memory: tt.memory}
		if got := o.share(100, 4); got != tt.want {
			t.Errorf("memory %d: %d, want %d", tt.memory, got, tt.want)
		}
	}
	o := ReadOptions{Memory: 1 << 30} // the default of the command changes nothing
	if got := o.windowed().WindowBytes; got != windowBytes {
		t.Errorf("%d bytes of a window", got)
	}
	if o.Limits.WindowBytes = 7; o.windowed().WindowBytes != 7 {
		t.Error("the limit that the user chose is not used")
	}
	if got := (parquet.Limits{}).Defaults().PageBytes; got != defaultPage {
		t.Errorf("the default of a page is %d bytes", got)
	}
	for memory, want := range map[int64]string{0: "", 1 << 20: "--" + FlagMemory} {
		o := &ReadOptions{Memory: memory, Report: new(ntconv.Report)}
		text := `{"traceEvents":[{"ph":"X","name":"` + strings.Repeat("x", 1<<20) + `"}]}`
		src, err := streamOpener(openChrome).Open(stream{r: strings.NewReader(text)}, o)
		for err == nil {
			_, err = src.Next()
		}
		if got := LimitFlag(err); got != want || want != "" && !errors.Is(err, ntconv.ErrLimit) {
			t.Errorf("memory %d: %q of %v, want %q", memory, got, err, want)
		}
	}
}
