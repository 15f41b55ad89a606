package command

// attacksOnSymbols are on tables of symbols, and on the spelling of names.
var attacksOnSymbols = []attack{
	{file: "panic-heaviest-min.nettrace", args: "to speedscope IN -o OUT.speedscope.json", code: 3, out: 4 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "to firefox IN -o OUT.firefox.json", code: 3, out: 64 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "to pprof IN -o OUT.pb.gz", code: 3, out: 4 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "top IN", code: 3, out: 4 << 10, mib: 100},
	{file: "name-commas.nettrace", args: "to pprof IN -o OUT.pb.gz", out: 8 << 10, mib: 120}, // 64 s before; TestGrowth of internal/events/dotnet counts steps
	{file: "name-commas.nettrace", args: "print --frames IN", out: 4 << 20, mib: 120},
	{file: "assembly.nettrace", args: "to pprof IN -o OUT.pb.gz", out: 1 << 20, mib: 160},
	{file: "wide.nettrace", args: "print --frames IN", out: 16 << 20, mib: 120},
	{file: "wideepoch.nettrace", args: "to pprof IN -o OUT.pb.gz", out: 1 << 20, mib: 160},
	{file: "modules.nettrace", args: "to pprof IN -o OUT.pb.gz", out: 16 << 20, mib: 400},
	{file: "inlined.nettrace", args: "to pprof IN -o OUT.pb.gz", code: 3, out: 4 << 20, mib: 120, says: "not-carried"},
	{file: "inlined.nettrace", args: "to speedscope IN -o OUT.speedscope.json", code: 3, out: 6 << 20, mib: 120, says: "not-carried"},
	{file: "inlined.nettrace", args: "print --frames --json IN", code: 3, out: 64 << 20, mib: 120, says: "inlined functions of addresses were omitted"},
	{file: "unresolved.nettrace", args: "to pprof IN -o OUT.pb.gz", out: 40 << 20, mib: 800},
}
