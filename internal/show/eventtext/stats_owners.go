package eventtext

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/where"
)

// owners numbers processes and threads, because their names may be known only at the end of a trace.
type owners struct {
	processes numbered[*ntconv.Process]
	threads   numbered[*ntconv.Thread]
}

// A numbered assigns numbers to pointers in the order of their first use.
type numbered[T comparable] struct {
	list    []T
	numbers map[T]int
}

func (n *numbered[T]) of(x T) int {
	i, ok := n.numbers[x]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[T]int)
		}
		i = len(n.list)
		n.numbers[x] = i
		n.list = append(n.list, x)
	}
	return i
}

// appendTo appends the process or thread of an event as the text of the key's last value, which has no text yet. thread
// may be nil.
func (o *owners) appendTo(key []byte, kind where.Owner, thread *ntconv.Thread) []byte {
	at := len(key) - keyHeader
	switch {
	case kind == where.OwnerThread && thread != nil:
		key[at] = byte(formThread)
		return strconv.AppendInt(key, int64(o.threads.of(thread)), 10)
	case kind == where.OwnerProcess && thread != nil && thread.Process != nil:
		key[at] = byte(formProcess)
		return strconv.AppendInt(key, int64(o.processes.of(thread.Process)), 10)
	}
	return key
}

// name returns the name of an owner, or a value without text if it is unknown. namer may be nil.
func (o *owners) name(v value, namer ntconv.Namer) value {
	name := ""
	i, _ := strconv.Atoi(v.text) // appendTo wrote it
	switch v.form {
	case formProcess:
		p := o.processes.list[i]
		if name = p.Name; namer != nil {
			if reported := namer.Process(p).Name; reported != "" {
				name = reported
			}
		}
	case formThread:
		t := o.threads.list[i]
		if name = t.Name; namer != nil {
			name = namer.ThreadName(t)
		}
	}
	if name == "" {
		return value{form: formNone}
	}
	return value{formText, name}
}
