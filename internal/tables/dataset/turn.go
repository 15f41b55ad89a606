package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/files/store"
)

// In an object store there are no locks that end with their process, and nothing can be renamed. Instead, runs that publish take
// turns, which are numbered:
//
//	_commits/turn-N.json    a turn; it is created if there is none with this number, so one run gets it
//	_commits/turn-N.alive   written again and again while the run is publishing
//	_commits/turn-N.done    the turn has ended; the next may begin
//
// A run whose turn shows no sign of life for turnLease has lost it: whoever waits ends it. The commit of a turn is decided when
// _commits/ID.json is created, which only one of the two can do: the run with the commit, or the other with a commit that is Undone.
// So a run that only was slow cannot decide anymore, and one that decided in the meantime is not undone.

// Times of turns.
const (
	turnLease = time.Minute            // without a sign of life
	turnAlive = 5 * time.Second        // between signs of life
	turnPoll  = 100 * time.Millisecond // between looks at the turn of another run; it grows to turnSlow
	turnSlow  = 2 * time.Second
	turnWait  = 30 * time.Minute // for a turn
	turnsKept = 3                // turns whose files stay, so that a slow run sees that there were others
	undoneAge = 24 * time.Hour   // of an undone commit that is removed
)

// A turn is the content of turn-N.json.
type turn struct {
	N     int      `json:"turn"`
	ID    string   `json:"commit"`
	Files []string `json:"files"` // of the commit, relative to the dataset
}

func (d *Dataset) turnFile(n int, kind string) string {
	return d.commitFile(fmt.Sprintf("turn-%012d.%s", n, kind))
}

// turns are those that have files in a dataset.
type turns struct {
	list  []int // numbers, sorted
	done  map[int]bool
	signs map[int]time.Time // last signs of life, by the clock of the store
}

// last returns the number of the last turn, 0 if there is none, and whether it has ended.
func (t *turns) last() (n int, ended bool) {
	if len(t.list) == 0 {
		return 0, true
	}
	n = t.list[len(t.list)-1]
	return n, t.done[n]
}

// abandoned returns the number of the last turn if its run has been killed for certain, whatever the clocks of store and machine say,
// else 0.
func (d *Dataset) abandoned(t *turns) int {
	if n, ended := t.last(); !ended && time.Since(t.signs[n]) > 10*d.lease() {
		return n
	}
	return 0
}

// turns returns the turns that have files.
func (d *Dataset) turns() (*turns, error) {
	entries, err := store.ReadDir(store.Join(d.dir, commitsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t := &turns{done: make(map[int]bool), signs: make(map[int]time.Time)}
	for _, e := range entries {
		text, kind, _ := strings.Cut(strings.TrimPrefix(e.Name(), "turn-"), ".")
		n, nerr := strconv.Atoi(text)
		if nerr != nil || !strings.HasPrefix(e.Name(), "turn-") {
			continue
		}
		switch kind {
		case "json":
			t.list = append(t.list, n)
		case "done":
			t.done[n] = true
		}
		if info, ierr := e.Info(); ierr == nil && kind != "done" && info.ModTime().After(t.signs[n]) {
			t.signs[n] = info.ModTime()
		}
	}
	slices.Sort(t.list)
	return t, nil
}

// takeTurn waits for the turn to publish a commit.
func (d *Dataset) takeTurn(c *Commit) (*turn, error) {
	mine := &turn{ID: c.ID}
	for i := range c.Files {
		mine.Files = append(mine.Files, c.Files[i].Path)
	}
	end := time.Now().Add(turnWait)
	for poll := turnPoll; ; poll = min(2*poll, turnSlow) {
		all, err := d.turns()
		if err != nil {
			return nil, err
		}
		last, ended := all.last()
		switch {
		case ended:
			mine.N = last + 1
			got, err := d.tryTurn(mine)
			if err != nil || got {
				return mine, err
			}
			poll = turnPoll / 2
		case d.lost(last, all.signs[last]):
			if err := d.endTurnOf(last); err != nil {
				return nil, err
			}
		case time.Now().After(end):
			return nil, ErrBusy
		default:
			time.Sleep(poll)
		}
	}
}

// tryTurn creates a turn, and reports false if another run was faster.
func (d *Dataset) tryTurn(mine *turn) (bool, error) {
	err := writeCompact(d.turnFile(mine.N, "json"), mine)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// The files of old turns are removed, so the number may be free although there were later turns.
	all, err := d.turns()
	if err != nil {
		return false, err
	}
	if last, _ := all.last(); last != mine.N {
		return false, remove(d.turnFile(mine.N, "json"))
	}
	return true, nil
}

// A sign is the last sign of life of a turn, and when this run saw it.
type sign struct {
	turn int
	at   time.Time // by the clock of the store
	seen time.Time
}

// lost reports whether a turn has not shown a sign of life for turnLease, which this run has waited for: clocks of other machines
// do not count.
func (d *Dataset) lost(n int, at time.Time) bool {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	s := &d.state.sign
	if s.turn != n || !s.at.Equal(at) {
		*s = sign{n, at, time.Now()}
		return false
	}
	return time.Since(s.seen) > d.lease()
}

// lease returns turnLease; tests have a shorter one.
func (d *Dataset) lease() time.Duration { return cmp.Or(d.testLease, turnLease) }

// keepAlive shows signs of life of a turn until stop is called.
func (d *Dataset) keepAlive(t *turn) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(min(turnAlive, d.lease()/4))
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			case <-tick.C:
				// If this fails for long, another run ends the turn, which is safe.
				_ = store.WriteBytes(d.turnFile(t.N, "alive"), []byte(strconv.Itoa(i)), store.CreateOptions{})
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// endTurnOf ends the turn of a run that is gone.
func (d *Dataset) endTurnOf(n int) error {
	t := new(turn)
	err := readJSON(d.turnFile(n, "json"), t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is over
	}
	if err == nil {
		_, err = d.endTurn(t)
	}
	return err
}

// endTurn ends a turn, and reports whether its commit was decided. If not, it never will be: its files are removed.
func (d *Dataset) endTurn(t *turn) (decided bool, err error) {
	undone := &Commit{ID: t.ID, Created: time.Now().UTC().Truncate(time.Second), Version: d.config.Version, Traces: []Manifest{}, Files: []File{}, Undone: true}
	for _, name := range t.Files {
		undone.Files = append(undone.Files, File{Path: name})
	}
	err = writeCompact(d.commitFile(t.ID+".json"), undone)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	c := new(Commit)
	err = readJSON(d.commitFile(t.ID+".json"), c)
	switch {
	case errors.Is(err, fs.ErrNotExist): // decided, and replaced since, or nothing was left of what it replaced
		return true, d.finishTurn(t)
	case err != nil:
		return false, err
	case c.Undone:
		err = d.removeFiles(t.Files)
	default:
		err = d.removeReplaced(c)
	}
	if err != nil {
		return !c.Undone, err
	}
	return !c.Undone, d.finishTurn(t)
}

// removeFiles removes files that may not exist.
func (d *Dataset) removeFiles(names []string) error {
	return parallel(len(names), requests, func(i int) error { return remove(d.file(names[i])) })
}

// finishTurn lets the next turn begin, and removes the files of old ones.
func (d *Dataset) finishTurn(t *turn) error {
	if err := store.WriteBytes(d.turnFile(t.N, "done"), []byte(t.ID), store.CreateOptions{}); err != nil {
		return err
	}
	all, err := d.turns()
	if err != nil {
		return err
	}
	for _, n := range all.list { // the oldest first, so that the newest number is never missing
		if n > t.N-turnsKept || !all.done[n] {
			break
		}
		for _, kind := range []string{"alive", "json", "done"} {
			if err := remove(d.turnFile(n, kind)); err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanRemote is Clean for a dataset in an object store.
func (d *Dataset) cleanRemote() (removed int, err error) {
	all, err := d.turns()
	if err != nil {
		return 0, err
	}
	if n := d.abandoned(all); n > 0 {
		if err := d.endTurnOf(n); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(d.removeUndone(), d.sweep()); err != nil {
		return 0, err
	}
	return d.removeLeftovers()
}

// removeUndone removes the files of commits that were not decided: their runs may have sent some after they had lost their turns. The
// descriptions are removed when the runs have ended for certain.
func (d *Dataset) removeUndone() error {
	if _, err := d.Commits(); err != nil {
		return err
	}
	for _, c := range d.undone() {
		if err := parallel(len(c.Files), requests, func(i int) error { return remove(d.file(c.Files[i].Path)) }); err != nil {
			return err
		}
		if time.Since(c.Created) > undoneAge {
			if err := remove(d.commitFile(c.ID + ".json")); err != nil {
				return err
			}
		}
	}
	return nil
}

// undone returns the commits that were not decided, by ID, as they were when the commits were read last.
func (d *Dataset) undone() map[string]*Commit {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	list := make(map[string]*Commit)
	for id, c := range d.state.known {
		if c.Undone {
			list[id] = c
		}
	}
	return list
}

// verifyTurns reports a turn that a killed run has left. pending means that a commit is being published.
func (d *Dataset) verifyTurns(v *Verified) (pending bool, err error) {
	all, err := d.turns()
	if err != nil {
		return false, err
	}
	if _, ended := all.last(); ended {
		return false, nil
	}
	if n := d.abandoned(all); n > 0 {
		name := strings.TrimPrefix(d.turnFile(n, "json"), d.dir+"/")
		v.add(name, nil, "left by a killed run; the next ntconv to parquet --dataset ends this turn")
	}
	return true, nil
}
