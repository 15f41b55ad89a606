package spool

import "io"

// A run is a sorted sequence of records in the file, with headers written by appendHeader.
type run struct {
	extents []extent
	last    Key // key of the last record; for a chain, that record may be in memory
}

// An extent is a range of the file. A record may begin in one extent and end in the next.
type extent struct{ offset, size int64 }

// write appends encoded records to the file as part of r, and creates the file if necessary.
func (s *Spool) write(r *run, b []byte) error {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	n, err := s.file.Write(b)
	offset := s.size
	s.size += int64(n)
	if err != nil {
		return err
	}
	if last := len(r.extents) - 1; last >= 0 && r.extents[last].offset+r.extents[last].size == offset {
		r.extents[last].size += int64(n)
	} else if n > 0 {
		r.extents = append(r.extents, extent{offset, int64(n)})
	}
	return nil
}

// writeChain moves the records of a chain from memory to the file.
func (s *Spool) writeChain(c *chain) error {
	for _, b := range c.all() {
		if err := s.write(&c.run, b); err != nil {
			return err
		}
	}
	s.release(&c.chunks)
	return nil
}

// writeLate sorts the late records and moves them to the file. They continue the previous run if all of them come after
// its last record, and otherwise begin a new run.
func (s *Spool) writeLate() error {
	if s.late.count == 0 {
		return nil
	}
	s.late.sort()
	if n := len(s.runs); n == 0 || s.late.index[0].key.before(s.runs[n-1].last) {
		s.runs = append(s.runs, run{last: firstKey})
	}
	r := &s.runs[len(s.runs)-1]
	for _, e := range s.late.index {
		if err := s.append(r, e.key, s.late.data(e)); err != nil {
			return err
		}
	}
	if err := s.flush(r); err != nil {
		return err
	}
	s.release(&s.late.chunks)
	s.late.count = 0
	return nil
}

// append appends a record to a run through the write buffer. Call flush after the last record of the run.
func (s *Spool) append(r *run, k Key, data []byte) error {
	if len(s.out)+maxHeader+len(data) > cap(s.out) {
		if err := s.flush(r); err != nil {
			return err
		}
	}
	s.out = appendHeader(s.out, r.last, k, len(data))
	r.last = k
	if len(s.out)+len(data) > cap(s.out) {
		if err := s.flush(r); err != nil {
			return err
		}
		return s.write(r, data)
	}
	s.out = append(s.out, data...)
	return nil
}

// flush writes the write buffer to the file, or allocates the buffer on first use.
func (s *Spool) flush(r *run) error {
	if s.out == nil {
		s.out = make([]byte, 0, s.chunkSize)
		s.used += s.chunkSize
	}
	if len(s.out) == 0 {
		return nil
	}
	err := s.write(r, s.out)
	s.out = s.out[:0]
	return err
}

// maxRuns is the maximum number of runs that are read at once.
const maxRuns = 64

// mergeRuns merges runs of late records until at most maxRuns remain, the chains included. It merges only adjacent
// runs, so that records with equal keys keep their order, and passes over all runs before it merges any of them again.
// The file does not reuse the space of merged runs.
func (s *Spool) mergeRuns() error {
	const limit = maxRuns - chainCount
	for at := 0; len(s.runs) > limit; at++ {
		if at+1 >= len(s.runs) {
			at = 0
		}
		n := min(maxRuns, len(s.runs)-limit+1, len(s.runs)-at)
		merged, err := s.merge(s.runs[at : at+n])
		if err != nil {
			return err
		}
		s.runs[at] = merged
		s.runs = append(s.runs[:at+1], s.runs[at+n:]...)
	}
	return nil
}

// merge appends one run with the records of several adjacent runs to the file.
func (s *Spool) merge(runs []run) (run, error) {
	merged := run{last: firstKey}
	var in Reader
	for i := range runs {
		in.addRun(s, &runs[i], len(runs))
	}
	if err := in.start(); err != nil {
		return merged, err
	}
	for {
		k, data, err := in.Next()
		if err == io.EOF {
			return merged, s.flush(&merged)
		}
		if err == nil {
			err = s.append(&merged, k, data)
		}
		if err != nil {
			return merged, err
		}
	}
}
