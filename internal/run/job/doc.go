// Package job converts inputs into one output, for the command and for library users. It plans the passes that a
// selection and an output need, runs them, and writes the output completely or not at all.
//
//	Job.Name    → Output: what the format needs and creates
//	Job.Prepare → Plan: order, symbols, spans, readings ahead, stages of the output
//	Job.Run     → Plan.Do → Delivery.Run: create outputs, create the sink, drain, check, commit
//
// The package knows no flags, exit codes and messages of the command: errors state what failed, and their users how it
// is mended.
package job
