// Package perfettocheck checks files in Chrome's trace event format (JSON) against the rules of Perfetto. A viewer
// shows elements that break a rule wrongly or not at all, and rarely reports it. The rules were determined by
// experiments with trace_processor (version 58).
package perfettocheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Names of the rules, which findings and tests use.
const (
	RuleStart     = "start"     // the first bytes decide whether a file is JSON of this format
	RuleSyntax    = "syntax"    // the file is JSON; only an array may lack its end
	RulePhase     = "phase"     // an event has a phase
	RuleID        = "id"        // pid and tid are numbers from 1 to 2^32-1: Perfetto replaces others with 0
	RuleTime      = "time"      // ts is a number and not negative
	RulePrecision = "precision" // ts and dur are exact: no exponent, at most 3 decimals, few enough digits
	RuleNesting   = "nesting"   // slices of a thread nest
	RuleBalance   = "balance"   // each begin has an end
	RuleInstant   = "instant"   // the scope of an instant is t, p or g
	RuleCounter   = "counter"   // values of counters are numbers
	RuleAsync     = "async"     // asynchronous slices have an ID, and begin and end on one thread
	// An arrow has two ends with the same ID, category and name, each inside a slice of its thread.
	RuleFlow     = "flow"
	RuleMetadata = "metadata" // names are strings, sort indexes are numbers
	RuleProfile  = "profile"  // chunks of V8 profiles are complete: nodes before use, one delta per sample
	RuleSamples  = "samples"  // the members samples and stackFrames are ignored
	RuleInteger  = "integer"  // integers in args fit into 64 bits
)

// A Finding is an event that Perfetto does not show as intended.
type Finding struct {
	Rule  string
	Event int // number of the event, counting from 0; -1 for the file
	Text  string
}

func (f Finding) String() string { return fmt.Sprintf("event %d: %s: %s", f.Event, f.Rule, f.Text) }

// A Result contains the elements that Perfetto finds in a file.
type Result struct {
	Events   int
	Slices   int // slices of threads: X, and B with E
	Async    int // asynchronous slices: b with e
	Instants int // i, I and n
	Counters int // values of counters
	Flows    int // arrows
	Samples  int // samples of V8 profiles
	Findings []Finding
}

// maxFindings is the maximum number of findings in a Result.
const maxFindings = 100

// Check reads a file and reports every violation as a finding.
func Check(r io.Reader) *Result {
	c := newChecker()
	b, err := io.ReadAll(r)
	if err != nil {
		c.find(RuleSyntax, "%v", err)
		return &c.result
	}
	c.file(b)
	c.end()
	return &c.result
}

func (c *checker) find(rule, format string, args ...any) {
	if len(c.result.Findings) < maxFindings {
		c.result.Findings = append(c.result.Findings, Finding{rule, c.number, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) file(b []byte) {
	head := bytes.TrimLeft(b, " \t\r\n")
	array := bytes.HasPrefix(head, []byte("["))
	compact := bytes.Join(bytes.Fields(head[:min(len(head), 32)]), nil)
	if !bytes.HasPrefix(compact, []byte(`{"`)) && !bytes.HasPrefix(compact, []byte(`[{"`)) {
		c.find(RuleStart, `the file begins with %.10q, want {" or [{"`, compact)
	}
	var err error
	d := json.NewDecoder(bytes.NewReader(b))
	if array {
		d = json.NewDecoder(bytes.NewReader(unfinished(b)))
		if err = c.events(d); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = nil // Chrome does not complete the array if it crashes
		}
	} else {
		err = c.object(d)
	}
	if err != nil {
		c.number = -1
		c.find(RuleSyntax, "byte %d: %v", d.InputOffset(), err)
	}
}

// unfinished returns an array without its missing end if a comma is the last byte, which Perfetto accepts.
func unfinished(b []byte) []byte {
	open := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(b), []byte("]")))
	if bytes.HasSuffix(open, []byte(",")) {
		return open[:len(open)-1]
	}
	return b
}

// object reads the object form of the format.
func (c *checker) object(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "traceEvents":
			if err := c.events(d); err != nil {
				return err
			}
			c.number = -1
			continue
		case "samples", "stackFrames":
			c.find(RuleSamples, "the member %s is ignored", key)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// events reads an array of events.
func (c *checker) events(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, errors.New("want an array of events"))
	}
	for c.number = 0; d.More(); c.number++ {
		var e event
		if err := d.Decode(&e); err != nil {
			return err
		}
		c.result.Events++
		c.event(&e)
	}
	_, err := d.Token()
	return err
}

// An event is one of the trace event format.
type event struct {
	Ph, Name, Cat, S, Bp string
	Pid, Tid, Ts, Dur    json.RawMessage
	ID                   json.RawMessage
	ID2                  *struct{ Local, Global json.RawMessage }
	Args                 map[string]json.RawMessage
}
