package command

// busyMiB is the peak at a limit of 64 MiB: memory in use is compared every few milliseconds, and on a busy machine a
// command can allocate that much between two comparisons.
const busyMiB = 112 + baseMiB

// attacksOnMemory are on memory that no limit of a table counts. Without a limit on the whole command these runs had
// 1,000 to 2,900 MiB and exit code 0.
var attacksOnMemory = []attack{
	{file: "unresolved.nettrace", args: "to pprof --max-memory 64MiB IN -o OUT.pb.gz", code: exitLimit, mib: busyMiB, says: "nettrace: memory in use too large"},
	{file: "unresolved.nettrace", args: "top --max-memory 64MiB IN", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "view --max-memory 64MiB IN", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "to chrome --max-memory 64MiB IN -o OUT.trace.json", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "to firefox --max-memory 64MiB IN -o OUT.firefox.json", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "to speedscope --max-memory 64MiB IN -o OUT.speedscope.json", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "to perfetto --max-memory 64MiB IN -o OUT.perfetto-trace", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
	{file: "unresolved.nettrace", args: "to parquet --max-memory 64MiB IN -o OUT.d/", code: exitLimit, mib: busyMiB, says: "raise --max-memory"},
}
