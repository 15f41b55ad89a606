package pipeline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/show/profilediff"
)

// A Profile is a profile in Job.Work: of one trace, or merged from those of several.
type Profile struct {
	File    string    `json:"file"`  // named by its content
	UID     string    `json:"uid"`   // of the trace: the beginning of the hash of its content; of the first one if there are several
	Types   string    `json:"types"` // sample types and period: only profiles with equal ones can be merged
	Service string    `json:"service"`
	Start   time.Time `json:"start,omitzero"` // of the first recording
	Inputs  int       `json:"inputs"`
	Bytes   int64     `json:"bytes"` // of the file

	// Of profiles that are compared.
	Build    string                 `json:"build,omitempty"`
	Kind     string                 `json:"kind,omitempty"`
	Estimate string                 `json:"estimate,omitempty"`
	Accuracy []profilediff.Accuracy `json:"accuracy,omitempty"` // by sample type
}

// day returns the day of the recording in UTC.
func (p *Profile) day() string {
	if p.Start.IsZero() {
		return unknown
	}
	return p.Start.UTC().Format(time.DateOnly)
}

// unknown is the name of a file or directory for a value that the trace does not have.
const unknown = "unknown"

// profilesName is the directory of profiles in Job.Work, and outName that of outputs.
const (
	profilesName = "profiles"
	outName      = "out"
)

// ProfileSteps merge the profiles of traces: one per service and day. It implements Steps.
//
// Map writes a profile per trace. Plan divides those of a service and day into buckets, Work merges a bucket, and Reduce the results.
// At any time, a process has the merged profile and the one that is added to it in memory, however many there are. Publish renames
// the directory with all outputs.
type ProfileSteps struct {
	Job     *Job
	Convert Convert // returns the item of Made
	Jobs    int     // inputs that are converted at a time
	Escape  func(string) string
}

// NewProfileFile returns the name of a new file of a profile for Kept.
func (j *Job) NewProfileFile() (string, error) {
	err := os.MkdirAll(j.file(profilesName), 0o777)
	return j.temp("profile.pb.gz") + ".pb.gz", err
}

// Kept renames a new file with the profile of a trace by its content, and describes it. The caller sets Service and Start.
func (j *Job) Kept(temp, uid string) (*Profile, error) {
	data, err := os.ReadFile(temp)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", temp, err)
	}
	sum := sha256.Sum256(data)
	k := &Profile{File: filepath.Join(profilesName, hex.EncodeToString(sum[:])+".pb.gz"), UID: uid, Types: typesOf(p), Inputs: 1, Bytes: int64(len(data))}
	return k, os.Rename(temp, j.file(k.File))
}

// A noted outcome is what a step has done with a trace, for a repetition.
type noted struct {
	Outcome *Outcome
	Item    *Item
}

// Note remembers what became of a trace, so that a repetition of the step does not convert it again.
func (j *Job) Note(uid string, o *Outcome, i *Item) error {
	if err := os.MkdirAll(j.file(profilesName), 0o777); err != nil { // this may be the first trace, and have no profile
		return err
	}
	return replaceFile(j.file(filepath.Join(profilesName, uid+".json")), Encode(&noted{o, i}))
}

// Noted returns what became of a trace, nil if it was not noted. name is that of the input, which may be a copy.
func (j *Job) Noted(uid, name string) (*Outcome, *Item) {
	data, err := os.ReadFile(j.file(filepath.Join(profilesName, uid+".json")))
	n := new(noted)
	if err != nil || json.Unmarshal(data, n) != nil || n.Outcome == nil {
		return nil, nil
	}
	if n.Outcome.Input != name {
		n.Outcome.Input, n.Outcome.Status, n.Outcome.Exit, n.Outcome.Reason = name, There, 0, ""
	}
	return n.Outcome, n.Item
}

// typesOf describes what profiles must have in common to be merged.
func typesOf(p *profile.Profile) string {
	var b strings.Builder
	for _, t := range p.SampleType {
		fmt.Fprintf(&b, "%s/%s ", t.Type, t.Unit)
	}
	if p.PeriodType != nil {
		fmt.Fprintf(&b, "every %s/%s", p.PeriodType.Type, p.PeriodType.Unit)
	}
	return b.String()
}

// Item returns the item for the profile of a trace.
func (p *Profile) Item() *Item {
	return &Item{p.Service + "\x00" + p.day() + "\x00" + p.Types, Encode(p)}
}

// Map implements Steps.
func (s *ProfileSteps) Map(names []string, emit func(Item), note func(*Outcome)) error {
	return mapAll(names, s.Jobs, s.Convert, emit, note)
}

// Limits of a bucket of profiles.
const (
	bucketProfiles = 64
	bucketBytes    = 64 << 20
)

// Plan implements Steps. A trace that occurs twice counts once.
func (s *ProfileSteps) Plan(_ string, values Values, emit func(Item)) error {
	list, err := profilesIn(values)
	if err != nil {
		return err
	}
	for _, bucket := range bucketsOf(list) {
		emit(Item{Key: bucket[0].UID, Value: Encode(bucket)})
	}
	return nil
}

// profilesIn decodes profiles, sorts them by time, and omits repetitions.
func profilesIn(values Values) ([]Profile, error) {
	list, err := decode[Profile](values)
	slices.SortFunc(list, func(a, b Profile) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.UID, b.UID)) })
	return slices.CompactFunc(list, func(a, b Profile) bool { return a.UID == b.UID }), err
}

// bucketsOf divides profiles.
func bucketsOf(list []Profile) (buckets [][]Profile) {
	var bucket []Profile
	bytes := int64(0)
	for _, p := range list {
		if len(bucket) == bucketProfiles || len(bucket) > 0 && bytes+p.Bytes > bucketBytes {
			buckets, bucket, bytes = append(buckets, bucket), nil, 0
		}
		bucket, bytes = append(bucket, p), bytes+p.Bytes
	}
	return append(buckets, bucket)
}

// Work implements Steps.
func (s *ProfileSteps) Work(bucket Item, emit func(Item)) error {
	var list []Profile
	if err := json.Unmarshal(bucket.Value, &list); err != nil {
		return err
	}
	merged, err := s.Job.merge(list, mergePair)
	if err == nil {
		emit(Item{merged.Service + "\x00" + merged.day(), Encode(merged)})
	}
	return err
}

// mergePair adds a profile to another one.
func mergePair(a, b *profile.Profile) (*profile.Profile, error) {
	return profile.Merge([]*profile.Profile{a, b})
}

// merge merges profiles in their order, and writes the result. A profile that is alone stays as it is.
func (j *Job) merge(list []Profile, pair func(a, b *profile.Profile) (*profile.Profile, error)) (*Profile, error) {
	if len(list) == 1 {
		return &list[0], nil
	}
	var sum *profile.Profile
	made := list[0]
	made.Inputs = 0
	for i := range list {
		p, err := j.read(&list[i])
		if err == nil && sum != nil {
			p, err = pair(sum, p)
		}
		if err != nil {
			return nil, err
		}
		sum = p
		made.Inputs += list[i].Inputs
	}
	sum.Comments = []string{"converted by ntconv", "merged from " + message.Count(int64(made.Inputs), "trace")} // not those of each
	return &made, j.write(sum, &made)
}

func (j *Job) read(p *Profile) (*profile.Profile, error) {
	data, err := os.ReadFile(j.file(p.File))
	if err != nil {
		return nil, err
	}
	parsed, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	return parsed, nil
}

// write writes a profile, and sets File and Bytes.
func (j *Job) write(p *profile.Profile, to *Profile) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	to.File, to.Bytes = filepath.Join(profilesName, hex.EncodeToString(sum[:])+".pb.gz"), int64(b.Len())
	return replaceFile(j.file(to.File), b.Bytes())
}

// Reduce implements Steps. It writes the profile of a service and day: several if their sample types differ.
func (s *ProfileSteps) Reduce(_ string, values Values, emit func(*Made)) error {
	list, err := profilesIn(values)
	if err != nil {
		return err
	}
	byTypes := make(map[string][]Profile)
	inputs := make(map[string]int)
	for _, p := range list {
		byTypes[p.Types] = append(byTypes[p.Types], p)
		inputs[p.Types] += p.Inputs
	}
	var types []string
	for t := range byTypes {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b string) int { return cmp.Or(inputs[b]-inputs[a], cmp.Compare(a, b)) })
	for i, t := range types {
		p, err := s.Job.merge(byTypes[t], mergePair)
		if err != nil {
			return err
		}
		name := p.day()
		if i > 0 {
			name += fmt.Sprintf("-%d", i+1)
		}
		name = filepath.Join(s.Escape(p.Service), name+".pb.gz")
		data, err := os.ReadFile(s.Job.file(p.File))
		if err != nil {
			return err
		}
		to := filepath.Join(s.Job.file(outName), name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := replaceFile(to, data); err != nil {
			return err
		}
		emit(&Made{Name: filepath.ToSlash(name), Inputs: p.Inputs, Files: 1, Bytes: p.Bytes})
	}
	return nil
}

// Publish implements Steps.
func (s *ProfileSteps) Publish(records Values) error {
	if err := s.Job.publish(records); err != nil {
		return err
	}
	return s.Job.reveal()
}

// reveal renames the output to its place. If an earlier call has done that, it does nothing.
func (j *Job) reveal() error {
	made := j.file(outName)
	if _, err := os.Stat(made); errors.Is(err, os.ErrNotExist) { // revealed before, or there was nothing to write
		return nil
	}
	if _, err := os.Stat(j.Output); err == nil && j.Force {
		if err := os.Rename(j.Output, j.temp("replaced")); err != nil {
			return err
		}
	}
	return os.Rename(made, j.Output)
}
