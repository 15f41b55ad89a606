package command

import (
	"sync"
	"time"

	"github.com/gdamore/tcell/v3"
)

// screenEvery is the interval at which a screen is refreshed.
const screenEvery = time.Second

// keyNames are the names of keys that are no characters, for liveScreen.press.
var keyNames = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn", tcell.KeyHome: "home", tcell.KeyEnd: "end",
	tcell.KeyEnter: "enter", tcell.KeyEsc: "esc", tcell.KeyBackspace: "backspace",
}

// openScreen returns the screen of the terminal. It does not negotiate, so no answer of a slow terminal remains for the shell.
func openScreen() (tcell.Screen, error) {
	return tcell.NewScreen(tcell.OptNegotiation(false), tcell.OptSanitizeContent(true))
}

// showScreen shows the view on the terminal until q or Ctrl-C is pressed, and then the end of the session.
func (w *watching) showScreen(lock sync.Locker) error {
	open := w.app.openScreen
	if open == nil {
		open = openScreen
	}
	screen, err := open()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return failf(exitOutput, "no screen on this terminal: %w; --%s prints lines", err, flagPlain)
	}
	restore := sync.OnceFunc(screen.Fini)
	defer restore()
	w.app.restore.Store(&restore)
	defer w.app.restore.Store(nil)
	screen.HideCursor()
	w.screenLoop(screen, lock)
	width, _ := screen.Size()
	restore()
	lock.Lock()
	lines := w.view.final(width)
	lock.Unlock()
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	return w.app.show(text)
}

// screenLoop draws the view and handles keys until the end.
func (w *watching) screenLoop(screen tcell.Screen, lock sync.Locker) {
	ticker := time.NewTicker(screenEvery)
	defer ticker.Stop()
	first := time.After(screenEvery / 4)
	ended, leaving := w.ended, false
	update := func(fresh bool) {
		lock.Lock()
		defer lock.Unlock()
		if fresh {
			w.view.refresh(ended != nil)
		}
		width, height := screen.Size()
		paint(screen, w.view.draw(width, height))
	}
	update(true)
	for {
		select {
		case <-ended:
			ended = nil
			update(true)
			if leaving || stopped(w.rec) {
				return
			}
		case <-first:
			update(true)
		case <-ticker.C:
			update(true)
		case e, ok := <-screen.EventQ():
			switch e := e.(type) {
			case *tcell.EventKey:
				if isQuit(e, w.view.isTyping()) {
					if ended == nil {
						return
					}
					w.leave(&leaving)
					continue
				}
				lock.Lock()
				w.view.press(keyOf(e))
				lock.Unlock()
				update(false)
			case *tcell.EventResize:
				screen.Sync()
				update(false)
			}
			if !ok { // the terminal is gone
				w.leave(&leaving)
				return
			}
		}
	}
}

// leave ends the session, and at the second call does not wait for the process.
func (w *watching) leave(leaving *bool) {
	if *leaving {
		w.rec.Abandon()
	}
	*leaving = true
	w.rec.Stop()
}

// isQuit reports whether a key ends the screen: not if it is a character of text that is being typed.
func isQuit(e *tcell.EventKey, typing bool) bool {
	return e.Key() == tcell.KeyCtrlC || e.Key() == tcell.KeyRune && e.Str() == "q" && !typing
}

// keyOf returns the name of a key.
func keyOf(e *tcell.EventKey) string {
	if e.Key() == tcell.KeyRune {
		return e.Str()
	}
	return keyNames[e.Key()]
}

// paint shows lines.
func paint(screen tcell.Screen, lines []screenLine) {
	screen.Clear()
	for y, line := range lines {
		x := 0
		for _, part := range line {
			for rest := part.text; rest != ""; {
				var width int
				if rest, width = screen.Put(x, y, rest, tcellStyle(part.style)); width == 0 {
					break // at the right end
				}
				x += width
			}
		}
	}
	screen.Show()
}

func tcellStyle(s lineStyle) tcell.Style {
	plain := tcell.StyleDefault
	switch s {
	case styleBold:
		return plain.Bold(true)
	case styleDim:
		return plain.Dim(true)
	case styleHeader:
		return plain.Reverse(true)
	case styleNotice:
		return plain.Bold(true).Reverse(true)
	}
	return plain
}
