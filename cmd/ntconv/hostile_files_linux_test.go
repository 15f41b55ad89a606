package main

// attacksOnFiles are on temporary files and on decompression.
var attacksOnFiles = []attack{
	{file: "unresolved.nettrace", args: "to parquet --max-spool 1MiB -o OUT IN", code: exitLimit, out: 0, mib: 700, says: "raise --max-spool"},
}
