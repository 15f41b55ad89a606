package formats

// otlpFormat returns the row of OTLP.
func otlpFormat() *Format {
	return &Format{
		Name: "otlp",
		Exts: []string{".binpb", ".jsonl", ".otlp"},
		Doc:  "spans of OpenTelemetry (OTLP traces) as protobuf or JSON, as the collector's file exporter writes them",
		In:   otlpIn(),
	}
}
