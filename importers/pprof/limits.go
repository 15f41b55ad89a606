package pprof

// Limits bound what a profile can make the importer hold. Zero is the default of a field.
type Limits struct {
	Bytes     int   // decompressed size: 1 GiB
	Strings   int   // entries of the string table: 4,000,000
	Samples   int   // 20,000,000
	Locations int   // 4,000,000, and as many functions
	Lines     int   // of all locations: 4,000,000
	Mappings  int   // 100,000
	Types     int   // types of values: 500
	Comments  int   // 10,000
	Labels    int   // of one sample: 10,000
	LabelText int   // bytes of keys and texts of one sample's labels: 1 MiB
	Stack     int   // frames of a stack; outer ones are cut: 10,000. Microsoft's reader of nettrace files takes 8,190
	Frames    int64 // of all stacks: 2^31
}

// Defaults returns the limits with the default where a field is zero.
func (l Limits) Defaults() Limits {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	set(&l.Bytes, 1<<30)
	set(&l.Strings, 4_000_000)
	set(&l.Samples, 20_000_000)
	set(&l.Locations, 4_000_000)
	set(&l.Lines, 4_000_000)
	set(&l.Mappings, 100_000)
	set(&l.Types, 500)
	set(&l.Comments, 10_000)
	set(&l.Labels, 10_000)
	set(&l.LabelText, 1<<20)
	set(&l.Stack, 10_000)
	if l.Frames <= 0 {
		l.Frames = 1 << 31
	}
	return l
}
