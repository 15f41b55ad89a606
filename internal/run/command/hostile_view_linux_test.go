package command

// attacksOnViews are on the reports and pages of pprof: a profile that names files of this machine, one whose strings
// are all scripts and commands for terminals, and one with two sample types of the same name. The pages have tests of
// their own.
var attacksOnViews = []attack{
	{file: "readfile.pb.gz", args: "top IN", out: 1 << 10, mib: 100, says: "39 distinct samples"},
	{file: "xss.pb", args: "top IN", out: 4 << 10, mib: 100, says: "8 distinct samples"},
	{file: "xss.pb", args: "to folded -o OUT.folded IN", code: exitIncomplete, out: 4 << 10, mib: 100, says: "function names with characters that folded stacks reserve were changed"},
	{file: "dup-types.pb.gz", args: "top IN", out: 1 << 10, mib: 100, says: "1 distinct sample"},
	{file: "dup-types.pb.gz", args: "top --sample-type cpu#2 IN", out: 1 << 10, mib: 100, says: "1 distinct sample"},
	{file: "dup-types.pb.gz", args: "to folded --sample-type cpu#2 -o OUT.folded IN", out: 1 << 10, mib: 100, says: "1 distinct stack"},
}
