// Package pipeline converts many traces on many machines. It has the work of a pipeline in steps that a runner calls, wherever and
// as often as it likes; it knows no runner.
//
//	Steps.Map      names → items by key            converts each input
//	Steps.Plan     items of a key → buckets        divides them into parts of bounded size
//	Steps.Work     bucket → items by another key   joins the items of a bucket
//	Steps.Reduce   items of a key → records        completes the outputs of a key
//	Steps.Publish  all records → Result            writes what became of the run
//
// A runner groups items by key between the steps. It may call a step several times for the same input, one after the other or at the
// same time, after errors and without them. Every step therefore leaves its results in files whose names follow from their contents,
// or in one that a rename replaces, and hands over only these names. A step that returns an error has changed nothing that matters.
//
// An input that cannot be converted is no error of a step: its Outcome says why, and Publish writes it to the dead letters.
package pipeline
