package fileio

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
)

// A quota follows the input unless it is fixed, and stays exceeded.
func TestQuota(t *testing.T) {
	var q Quota
	if err := q.Spend(QuotaFloor); err != nil {
		t.Error(err)
	}
	q.Read(QuotaFloor/QuotaRatio + 1)
	if err := q.Spend(1); err != nil {
		t.Errorf("after more input: %v", err)
	}
	checkExceeded(t, q.Spend(QuotaRatio), (QuotaFloor/QuotaRatio+1)*QuotaRatio)
	q.Read(1 << 40)
	checkExceeded(t, q.Spend(0), (QuotaFloor/QuotaRatio+1)*QuotaRatio)

	var fixed, none Quota
	fixed.SetMax(10)
	fixed.Read(1 << 40)
	if err := fixed.Spend(10); err != nil {
		t.Error(err)
	}
	checkExceeded(t, fixed.Spend(1), 10)
	none.SetMax(0)
	for _, q := range []*Quota{&none, nil} {
		q.Read(1)
		if err := q.Spend(1 << 60); err != nil {
			t.Error(err)
		}
	}
	var huge Quota
	huge.Read(1 << 62) // must not overflow
	if err := huge.Spend(1 << 40); err != nil {
		t.Error(err)
	}
}

func checkExceeded(t *testing.T, err error, value int64) {
	t.Helper()
	var l *ntconv.LimitError
	if !errors.As(err, &l) || l.Limit != LimitWritten || l.Value != value || l.Asked <= value || !errors.Is(err, ntconv.ErrLimit) {
		t.Errorf("%v, want a limit of %d", err, value)
	}
}

// All members of a set share a quota, which counts bytes before they are compressed. A write that exceeds it writes
// nothing, and after Abort nothing is there.
func TestOutputsQuota(t *testing.T) {
	zeros := make([]byte, 1000)
	for _, ext := range []string{"", ".gz", ".zst"} {
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		q := new(Quota)
		q.SetMax(2500)
		o := createOutputs(t, dest+"/", OutputsOptions{OutputOptions: OutputOptions{Quota: q}})
		var err error
		for i, name := range []string{"a", "b", "c"} {
			m, cerr := o.Create(name)
			if cerr != nil {
				t.Fatal(cerr)
			}
			var n int
			if ext == "" {
				n, err = m.Write(zeros)
			} else {
				z, cerr := NewCompressor(m, ext)
				if cerr != nil {
					t.Fatal(cerr)
				}
				if n, err = z.Write(zeros); err == nil {
					err = z.Close()
				}
			}
			if (err != nil) != (i == 2) || err != nil && n != 0 {
				t.Fatalf("%s: member %d: %d, %v", ext, i, n, err)
			}
		}
		var located *Error
		if checkExceeded(t, err, 2500); !errors.As(err, &located) || located.Name != filepath.Join(dest, "c") {
			t.Errorf("%s: %v", ext, err)
		}
		if err := o.Abort(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", ext, left, err)
		}
	}
}

// An encoder of its own spends what it takes, and a set without files what is sent.
func TestSpending(t *testing.T) {
	q := new(Quota)
	q.SetMax(1000)
	dest := filepath.Join(t.TempDir(), "out")
	o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Quota: q}})
	m, err := o.Create("")
	if err != nil {
		t.Fatal(err)
	}
	z, err := NewGzip(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := Spending(m, z)
	if _, err := w.Write(make([]byte, 1000)); err != nil {
		t.Error(err)
	}
	if err := z.Close(); err != nil { // what it writes to the member costs nothing more
		t.Error(err)
	}
	_, err = w.Write(make([]byte, 1))
	checkExceeded(t, err, 1000)
	checkExceeded(t, NoOutputs(q).Spend(1), 1000)
	if err := NoOutputs(nil).Spend(1); err != nil {
		t.Error(err)
	}
	if err := o.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dest); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var b bytes.Buffer
	if Spending(&b, z) != z {
		t.Error("a writer that has no quota")
	}
}
