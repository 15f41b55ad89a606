package command

// diffHelp describes the command. The help wraps its paragraphs.
const diffHelp = `Compare two recordings of a program, before and after a change: traces or profiles, of one kind (--kind). The report
begins with what changed significantly, or says that nothing did. All flags apply to both inputs, and each input has its
own summary on standard error.

Functions are listed by the change of their own value (self) and of their value with callees (total). The share column is
the change of the share of the total of all samples, in percentage points: if everything takes twice the time, all values
change and no share does. New functions are only in AFTER, and functions that are gone only in BEFORE. Functions that
differ only in the numbers that a compiler chose for lambdas, local functions and closures are one function, if both
inputs have equally many of them.

A change is significant if it exceeds the sampling error, so that noise is not called a regression, and --min-effect. The
error comes from the variation of a value over time within each recording, or, for the total of an estimate, from its own
standard error, plus --run-noise. Of all changes that are called significant, at most 5% are expected to be noise.
docs/diff.md describes the method.

The report also compares the totals of both traces: kinds of profiles, garbage collections, exceptions and allocations by
type, waits for locks, requests and spans with quantiles of their durations, and the means of counters.

--per divides values, if the recordings differ in length or load. --fail-above LIMIT exits with 3 if one of these
increased significantly by more than the limit: the total of all samples; the self or total value of a function, in
percent of the total of all samples before; or the 50%, 95% or 99% quantile of the durations of requests or spans.

--json prints one object: before, after (the inputs), sample_type, unit, total, functions, sections and the parameters
of the tests. docs/diff.md describes its members.`
