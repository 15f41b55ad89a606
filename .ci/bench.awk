# Prints the output of go test -bench, followed by the cost of the reader as a multiple of the plain loop on the same
# file. It compares the fastest run of each, because a ratio depends less on other load than nanoseconds do. It fails if
# the benchmarks fail.
{ print; fflush() }
/^FAIL/ || /^--- FAIL/ { failed = 1 }
/ ns\/event/ {
	name = $1
	sub(/-[0-9]+$/, "", name)
	for (i = 2; i < NF; i++)
		if ($(i + 1) == "least-ns/event")
			ns = $i
	if (sub(/^BenchmarkPlainLoop\/(nettrace\/)?/, "", name)) {
		sub(/\.nettrace$/, "", name)
		plain[name] = ns
	} else if (sub(/^BenchmarkCompressed\/(nettrace\/)?/, "", name)) { # version 6 has no plainer loop
		sub(/\.nettrace$/, "", name)
		if (!(name in plain))
			plain[name] = ns
	} else if (sub(/^BenchmarkReader\//, "", name)) {
		readers[++count] = name
		cost[name] = ns
	}
}
END {
	for (i = 1; i <= count; i++) {
		split(readers[i], part, "/")
		if (plain[part[1]] > 0)
			printf "%-32s %-6s %5.1f ns/event, %.2f times the plain loop\n", part[1], part[2], cost[readers[i]], cost[readers[i]] / plain[part[1]]
	}
	exit failed
}
