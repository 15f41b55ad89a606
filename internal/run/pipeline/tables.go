package pipeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// Convert converts an input, and returns its outcome and what it hands over, or nil. The error is not that of the input.
type Convert func(name string) (*Outcome, *Item, error)

// TableSteps add traces to a dataset. It implements Steps.
//
// Map leaves the tables of each trace in a workspace of the dataset. Plan divides the traces of a partition into buckets that share
// files, Work makes the files of a bucket, and Reduce publishes all of them.
type TableSteps struct {
	Job     *Job
	Space   *dataset.Workspace
	Convert Convert // returns the item of Waiting
	Jobs    int     // inputs that are converted at a time
}

// Waiting returns the item for a prepared trace.
func Waiting(p *dataset.Prepared) *Item { return &Item{p.Place, Encode(p)} }

// Encode returns a value as JSON, which must be able to represent it.
func Encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // a bug: all types of this package can be encoded
	}
	return data
}

// decode decodes all values of a key.
func decode[T any](values Values) (list []T, err error) {
	for data := range values {
		var one T
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// Map implements Steps.
func (s *TableSteps) Map(names []string, emit func(Item), note func(*Outcome)) error {
	if err := s.Space.Renew(); err != nil {
		return err
	}
	return mapAll(names, s.Jobs, s.Convert, emit, note)
}

// mapAll converts inputs, some of them at a time, and emits their results in the order of the names.
func mapAll(names []string, jobs int, convert Convert, emit func(Item), note func(*Outcome)) error {
	type result struct {
		outcome *Outcome
		item    *Item
		err     error
	}
	results := make([]result, len(names))
	slots := make(chan struct{}, max(jobs, 1))
	var workers sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		workers.Go(func() {
			r := &results[i]
			r.outcome, r.item, r.err = convert(name)
			<-slots
		})
	}
	workers.Wait()
	for i := range results {
		if err := results[i].err; err != nil {
			return err
		}
	}
	for _, r := range results {
		if r.item != nil {
			emit(*r.item)
		}
		note(r.outcome)
	}
	return nil
}

// Plan implements Steps.
func (s *TableSteps) Plan(_ string, values Values, emit func(Item)) error {
	list, err := decode[dataset.Prepared](values)
	if err != nil {
		return err
	}
	for _, bucket := range dataset.Buckets(list) {
		uids := make([]string, len(bucket))
		for i, p := range bucket {
			uids[i] = p.UID
		}
		emit(Item{Key: uids[0], Value: Encode(uids)})
	}
	return nil
}

// Work implements Steps.
func (s *TableSteps) Work(bucket Item, emit func(Item)) error {
	var uids []string
	if err := json.Unmarshal(bucket.Value, &uids); err != nil {
		return err
	}
	if err := s.Space.Renew(); err != nil {
		return err
	}
	ref, err := s.Space.Pack(uids)
	if err == nil {
		emit(Item{Value: Encode(ref)})
	}
	return err
}

// commitTraces is the maximum number of traces of a commit, whose description has 1 kB per trace: all readers of a dataset read it,
// and the removal of a trace replaces it.
const commitTraces = 10_000

// Reduce implements Steps.
func (s *TableSteps) Reduce(_ string, values Values, emit func(*Made)) error {
	refs, err := decode[dataset.FragmentRef](values)
	if err != nil {
		return err
	}
	slices.SortFunc(refs, func(a, b dataset.FragmentRef) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Name, b.Name))
	})
	refs = slices.CompactFunc(refs, func(a, b dataset.FragmentRef) bool { return a.Name == b.Name })
	for len(refs) > 0 {
		n, traces := 0, 0
		for n < len(refs) && (n == 0 || traces+refs[n].Traces <= commitTraces) {
			traces += refs[n].Traces
			n++
		}
		if err := s.Space.Renew(); err != nil {
			return err
		}
		made, err := s.Space.Publish(refs[:n])
		if err != nil {
			return err
		}
		emit(&Made{Name: made.Commit, Inputs: made.Traces, Files: made.Files, Bytes: made.Bytes})
		refs = refs[n:]
	}
	return nil
}

// Publish implements Steps.
func (s *TableSteps) Publish(records Values) error { return s.Job.publish(records) }
