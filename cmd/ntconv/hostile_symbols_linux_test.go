package main

// attacksOnSymbols are on tables of symbols, and on the spelling of names.
var attacksOnSymbols = []attack{
	{file: "panic-heaviest-min.nettrace", args: "to speedscope IN -o OUT.speedscope.json", code: 3, out: 4 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "to firefox IN -o OUT.firefox.json", code: 3, out: 64 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "to pprof IN -o OUT.pb.gz", code: 3, out: 4 << 10, mib: 100},
	{file: "panic-heaviest-min.nettrace", args: "top IN", code: 3, out: 4 << 10, mib: 100},
}
