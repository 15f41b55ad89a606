package mutate_test

import (
	"bytes"
	"errors"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/callgrind"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/exporters/html"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/exporters/perfetto"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/exporters/prometheus"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/track"
)

// An output is the output of an exporter.
type output struct {
	bytes.Buffer
	tables map[string]*bytes.Buffer // Parquet
	made   bool                     // a sink wrote it; there is no sink if the input cannot be opened
}

// An exporter writes events to a stream. Each call creates a new sink.
type exporter struct {
	name string
	late bool // the sink resolves symbols only in Close
	sink func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error)
}

func exporters() []exporter {
	return []exporter{
		{"pprof", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, _ string) (ntconv.Sink, error) {
			return pprof.New(w, info, names, &pprof.Options{Options: sample.Options{Report: report}, Uncompressed: true}), nil
		}},
		{"folded", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, _ string) (ntconv.Sink, error) {
			return folded.New(w, info, names, &folded.Options{Options: sample.Options{Report: report}, ProcessRoot: true, Annotate: true}), nil
		}},
		{"callgrind", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, _ string) (ntconv.Sink, error) {
			return callgrind.New(w, info, names, &callgrind.Options{Options: sample.Options{Report: report}}), nil
		}},
		{"otlp-json", true, otlpExporter(otlp.JSONLines)},
		{"otlp-proto", true, otlpExporter(otlp.Protobuf)},
		{"prometheus", false, func(w *output, info *ntconv.Info, _ ntconv.Namer, report *ntconv.Report, _ string) (ntconv.Sink, error) {
			return prometheus.New(w, info, &prometheus.Options{Report: report, MetricsFromEvents: true}), nil
		}},
		{"parquet", true, parquetTables},
		{"parquet-single", false, parquetSingle},
		{"html", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
			return html.New(w, info, names, &html.Options{Report: report, TempDir: dir})
		}},
		{"chrome", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
			return chrome.New(w, info, names, &chrome.Options{Options: track.Options{Report: report, TempDir: dir}, Stacks: true}), nil
		}},
		{"perfetto", true, perfettoExporter},
		{"firefox", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
			return firefox.New(w, info, names, &firefox.Options{Options: track.Options{Report: report, TempDir: dir}}), nil
		}},
		{"speedscope", true, func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
			return speedscope.New(w, info, names, &speedscope.Options{Options: track.Options{Report: report, TempDir: dir}}), nil
		}},
	}
}

// allSignals are all signals, also those of no default.
var allSignals = otlp.SignalSet(otlp.Traces, otlp.Logs, otlp.Metrics, otlp.Profiles)

func otlpExporter(form otlp.Form) func(*output, *ntconv.Info, ntconv.Namer, *ntconv.Report, string) (ntconv.Sink, error) {
	return func(w *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, _ string) (ntconv.Sink, error) {
		return otlp.NewFile(w, form, info, names, &otlp.Options{Report: report, Sources: ^otlp.Sources(0), Signals: allSignals}), nil
	}
}

// exporterOf returns the exporter with a name.
func exporterOf(name string) exporter {
	for _, e := range exporters() {
		if e.name == name {
			return e
		}
	}
	panic("no exporter " + name)
}

func parquetTables(out *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
	out.tables = map[string]*bytes.Buffer{}
	create := func(table string) (io.WriteCloser, error) {
		b := new(bytes.Buffer)
		out.tables[table] = b
		return closer{b}, nil
	}
	return parquet.New(create, info, names, &parquet.Options{Report: report, TempDir: dir, TypedRows: 2})
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

func parquetSingle(out *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
	return parquet.NewSingle(out, info, names, &parquet.Options{Report: report, TempDir: dir})
}

func perfettoExporter(out *output, info *ntconv.Info, names ntconv.Namer, report *ntconv.Report, dir string) (ntconv.Sink, error) {
	return perfetto.New(out, info, names, &perfetto.Options{Options: track.Options{Report: report, TempDir: dir}, Plain: true}), nil
}

// open opens a trace and a Namer. The Namer learns symbols as events are read, or reads the whole trace first.
func open(data []byte, order reader.Order, report *ntconv.Report, first bool) (ntconv.Source, *symbol.Table, error) {
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: order, Report: report, AllowPrerelease: true})
	if err != nil {
		return nil, nil, err
	}
	names := symbol.New(&symbol.Options{Report: report})
	if !first {
		return symbol.Watch(src, names), names, nil
	}
	if err := names.Scan(src); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	src, err = reader.New(bytes.NewReader(data), &reader.Options{Order: order, AllowPrerelease: true})
	return src, names, err
}

// convert writes a trace with an exporter and checks that the exporter retains no borrowed event. rejected is the error
// of the trace; the output contains the events before it.
func convert(data []byte, out *output, e exporter, dir string) (rejected, err error) {
	var report ntconv.Report
	src, names, err := open(data, reader.ByTime, &report, !e.late)
	if err != nil {
		return err, nil
	}
	return export(src, names, &report, out, e, dir)
}

func export(src ntconv.Source, names ntconv.Namer, report *ntconv.Report, out *output, e exporter, dir string) (rejected, err error) {
	src = ntconvtest.Poison(src)
	sink, err := e.sink(out, src.Info(), names, report, dir)
	if err != nil {
		return nil, err
	}
	out.made = true
	_, err = ntconv.Copy(sink, src)
	var ended *ntconv.SourceError
	if errors.As(err, &ended) {
		rejected, err = ended, nil
	}
	return rejected, errors.Join(err, sink.Close())
}
