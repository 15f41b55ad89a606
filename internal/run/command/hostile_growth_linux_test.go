package command

// attacksOnGrowth are inputs whose cost grew faster than they do. TestGrowth in internal/testing/growth measures the
// growth; the bounds here are on what the output holds.
var attacksOnGrowth = []attack{
	{file: "keys-4000.nettrace", args: "print --json IN", out: 64 << 10, mib: 100},
	{file: "keys-4000.nettrace", args: "to parquet IN -o OUT/", out: 512 << 10, mib: 120},
	{file: "keys-4000.nettrace", args: "to chrome IN -o OUT.json", out: 64 << 10, mib: 100},
	{file: "keys-4000.nettrace", args: "to firefox IN -o OUT.json", out: 128 << 10, mib: 100},
	{file: "keys-4000.nettrace", args: "to perfetto IN -o OUT.perfetto-trace", out: 128 << 10, mib: 100},
	{file: "keys-4000.nettrace", args: "to otlp IN -o OUT.jsonl", code: exitEmpty, mib: 100},
}
