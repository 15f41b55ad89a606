package parquet_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/writer"
)

// The table logs has the messages of a recording: one row for the three forms of each, with exceptions and scopes.
func TestLogs(t *testing.T) {
	m, _, info, _ := exported(t, corpus.SharedTrace(t, "own/logging").Data, parquet.Options{})
	rows := rowsOf[tables.Log](t, m, "logs")
	if len(rows) != 12 {
		t.Fatalf("%d rows, want 12", len(rows))
	}
	failed := rows[2]
	want := map[string]string{
		"Id": "0", "{OriginalFormat}": "Failed {Id}", "exception.type": "System.InvalidOperationException", "exception.message": "no till",
		"exception.stacktrace": "System.InvalidOperationException: no till\n ---> System.FormatException: inner\n   --- End of inner exception stack trace ---",
		"OrderId":              "0", "Customer": "Ann \"A\" 😀",
	}
	if failed.Severity != "Error" || failed.SeverityNumber != 17 || failed.Scope != "Shop.Till" || failed.Message != "Failed 0" || !maps.Equal(failed.Attributes, want) {
		t.Errorf("%+v", failed)
	}
	if failed.PID != 16537 || failed.TID <= 0 || failed.ProcessID == 0 || failed.TSNanos < info.Clock.Wall.UnixNano() || failed.TS != failed.TSNanos/1000 {
		t.Errorf("%+v", failed)
	}
	if low := rows[1]; low.EventName != "LowStock" || low.TraceID != "" || low.SpanID != "" || low.Attributes["logrecord.event.id"] != "42" {
		t.Errorf("%+v", low)
	}
	for i := 1; i < len(rows); i++ {
		if rows[i].TSNanos < rows[i-1].TSNanos {
			t.Errorf("row %d is earlier than the one before it", i)
		}
	}
}

// An imported record is a row with its resource and its IDs; a body that is not a string is JSON.
func TestImportedLogs(t *testing.T) {
	src, err := otlp.New(bytes.NewReader([]byte(`{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
		"scopeLogs":[{"scope":{"name":"till"},"logRecords":[{"timeUnixNano":"1700000000000000001","severityNumber":10,"eventName":"sold",
		"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",
		"body":{"kvlistValue":{"values":[{"key":"n","value":{"intValue":"3"}}]}}}]}]}]}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ntconv.Copy(w, src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m, _, _, sum := exported(t, file.Bytes(), parquet.Options{})
	rows := rowsOf[tables.Log](t, m, "logs")
	if len(rows) != 1 || sum.Logs != 1 || sum.Spans != 0 {
		t.Fatalf("%d rows, %+v", len(rows), sum)
	}
	row := rows[0]
	if row.TSNanos != 1700000000000000001 || row.SeverityNumber != 10 || row.Message != `{"n":3}` || row.Scope != "till" || row.EventName != "sold" ||
		row.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || row.SpanID != "00f067aa0ba902b7" || row.Resource["service.name"] != "shop" {
		t.Errorf("%+v", row)
	}
}
