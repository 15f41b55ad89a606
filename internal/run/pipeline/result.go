package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// An Outcome is what became of an input.
type Outcome struct {
	Input  string `json:"input"`
	Status string `json:"status"`
	Exit   int    `json:"exit"`
	Reason string `json:"reason,omitempty"` // of a failure
	Events int64  `json:"events,omitempty"` // in the output
	In     int64  `json:"bytes_in,omitempty"`
}

// Values of Outcome.Status.
const (
	Converted  = "converted"
	Incomplete = "incomplete"    // converted, but the input is truncated or corrupt
	There      = "already there" // the output has it
	Empty      = "empty"         // the input has nothing for the output
	Failed     = "failed"        // a dead letter
)

// Made is an output of a Reduce step.
type Made struct {
	Name   string `json:"name"`
	Inputs int    `json:"inputs,omitempty"`
	Rows   int64  `json:"rows,omitempty"`
	Files  int    `json:"files,omitempty"`
	Bytes  int64  `json:"bytes"`
}

// A Record is what Publish gets: one of its members is set.
type Record struct {
	Outcome *Outcome `json:"outcome,omitempty"`
	Made    *Made    `json:"made,omitempty"`
}

// Encode returns a record as Publish decodes it.
func (r *Record) Encode() []byte { return Encode(r) }

// A Result is what became of a pipeline.
type Result struct {
	Counts   map[string]int `json:"results"` // inputs by status
	Exits    map[int]int    `json:"exits"`   // inputs by exit code
	Events   int64          `json:"events"`
	BytesIn  int64          `json:"bytes_in"`
	BytesOut int64          `json:"bytes_out"`
	Files    int            `json:"files"`
	Rows     int64          `json:"rows,omitempty"`
	Made     []Made         `json:"made"`
}

// Names of files in Job.Work.
const (
	resultName  = "result.json"
	LettersName = "dead-letters.jsonl" // an Outcome per line
)

// maxMade is the number of outputs that a Result lists.
const maxMade = 1000

// publish writes the Result and the dead letters. Every call of the same run writes the same.
func (j *Job) publish(records Values) error {
	r := &Result{Counts: make(map[string]int), Exits: make(map[int]int), Made: []Made{}}
	temp := j.temp(LettersName)
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for data := range records {
		var record Record
		if err = json.Unmarshal(data, &record); err != nil {
			break
		}
		if record.Made != nil {
			r.made(record.Made)
		}
		if o := record.Outcome; o != nil {
			r.add(o)
			if o.Status == Failed {
				line, _ := json.Marshal(o) // has no values that JSON cannot represent
				_, err = w.Write(append(line, '\n'))
			}
		}
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err == nil {
		err = os.Rename(temp, j.file(LettersName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return replaceFile(j.file(resultName), data)
}

func (r *Result) add(o *Outcome) {
	r.Counts[o.Status]++
	r.Exits[o.Exit]++
	r.BytesIn += o.In
	if o.Status == Converted || o.Status == Incomplete {
		r.Events += o.Events
	}
}

func (r *Result) made(m *Made) {
	r.BytesOut += m.Bytes
	r.Rows += m.Rows
	if r.Files += m.Files; len(r.Made) < maxMade {
		r.Made = append(r.Made, *m)
	}
}

// Result reads what Publish has written.
func (j *Job) Result() (*Result, error) {
	data, err := os.ReadFile(j.file(resultName))
	if err != nil {
		return nil, fmt.Errorf("the pipeline has ended without a result: %w", err)
	}
	r := new(Result)
	return r, json.Unmarshal(data, r)
}

// Clear removes the result of an earlier run.
func (j *Job) Clear() error {
	for _, name := range []string{resultName, LettersName} {
		if err := os.Remove(j.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (j *Job) file(name string) string { return filepath.Join(j.Work, name) }

// temp returns an unused name for a file that will be renamed.
func (j *Job) temp(name string) string {
	return j.file(fmt.Sprintf("_%s-%016x", name, rand.Uint64()))
}

// replaceFile writes a file that appears complete, and replaces one that exists.
func replaceFile(name string, data []byte) error {
	temp := filepath.Join(filepath.Dir(name), fmt.Sprintf("_%s-%016x", filepath.Base(name), rand.Uint64()))
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, name)
}
