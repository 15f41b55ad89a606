package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
)

// Outcomes of an input of a collection.
const (
	statusAdded      = "added"
	statusIncomplete = "incomplete" // added, but the input is truncated or damaged
	statusThere      = "already there"
	statusBusy       = "busy" // another run is adding it
	statusFailed     = "failed"
	statusSkipped    = "not tried" // because the dataset cannot be written
)

// An addedTrace is the outcome of an input.
type addedTrace struct {
	Input   string  `json:"input"`
	Status  string  `json:"status"`
	UID     string  `json:"uid,omitempty"`
	Path    string  `json:"path,omitempty"` // of its directory
	Events  int64   `json:"events,omitempty"`
	Bytes   int64   `json:"bytes,omitempty"` // of its tables
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"`
	Exit    int     `json:"exit"`
	Error   string  `json:"error,omitempty"`
}

// A collectionResult is the outcome of all inputs of a collection. It implements formats.Result.
type collectionResult struct {
	traces        []addedTrace // in the order of the inputs
	events, bytes int64        // of those that were added
}

// MarshalJSON implements json.Marshaler.
func (r *collectionResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Added      int          `json:"added"`
		Incomplete int          `json:"incomplete"`
		There      int          `json:"already_there"`
		Busy       int          `json:"busy"`
		Failed     int          `json:"failed"`
		NotTried   int          `json:"not_tried"`
		Traces     []addedTrace `json:"traces"`
	}{r.count(statusAdded) + r.count(statusIncomplete), r.count(statusIncomplete), r.count(statusThere), r.count(statusBusy),
		r.count(statusFailed), r.count(statusSkipped), r.traces})
}

func (r *collectionResult) count(status string) (n int) {
	for i := range r.traces {
		if r.traces[i].Status == status {
			n++
		}
	}
	return n
}

// Empty implements formats.Result.
func (r *collectionResult) Empty() string { return "" }

// Line implements formats.Result.
func (r *collectionResult) Line(formats.Read) string {
	incomplete := r.count(statusIncomplete)
	parts := []string{fmt.Sprintf("%s added", message.Count(int64(r.count(statusAdded)+incomplete), "trace"))}
	if incomplete > 0 {
		parts[0] += fmt.Sprintf(" (%s incomplete)", message.Group(int64(incomplete)))
	}
	for _, status := range []string{statusThere, statusBusy, statusFailed, statusSkipped} {
		n := r.count(status)
		if n == 0 {
			continue
		}
		text := status
		if status == statusBusy {
			text = "being added by another run"
		}
		parts = append(parts, message.Group(int64(n))+" "+text)
	}
	return fmt.Sprintf("%s; %s", strings.Join(parts, ", "), message.Count(r.events, "event"))
}

// Detail implements formats.Result.
func (r *collectionResult) Detail() (string, []ntconv.Code) { return "", nil }

// Remark implements formats.Result.
func (r *collectionResult) Remark(string) {}

// Notes implements formats.Result.
func (r *collectionResult) Notes() []string { return nil }

// severity has the exit codes of traces, worst first.
func severity() []int {
	return []int{exitOutput, exitLimit, exitInput, exitUsage, exitEmpty, exitIncomplete}
}

// err returns the error of a collection: its exit code is the worst of all traces, whose own errors have been shown.
func (r *collectionResult) err() error {
	var codes []int
	for i := range r.traces {
		codes = append(codes, r.traces[i].Exit)
	}
	if code := worst(codes); code != exitOK {
		return fail(code, errQuiet)
	}
	return nil
}

func (r *collectionResult) table() (rows []tableRow) {
	for _, t := range r.traces {
		rows = append(rows, tableRow{t.Input, t.Path, t.Events, t.Bytes, t.Seconds, t.Status})
	}
	return rows
}
