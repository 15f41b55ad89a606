package where

import "github.com/ntconv/ntconv"

// An Operand is a field of the payload or a property of events: what can be on the left side of a comparison, and the
// names of process and thread. It is immutable and safe for concurrent use.
type Operand struct{ t *test }

// ParseOperands parses operands separated by commas, such as "$provider, Payload.Name". It returns at least one
// operand, or an error of type *Error.
func ParseOperands(text string) ([]*Operand, error) {
	p := parser{lexer: lexer{text: text}} // without an expression, so that names of processes and threads are accepted
	if len(text) > maxText {
		return nil, &Error{Msg: "the list of fields is too long: more than 64 KiB"}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []*Operand
	for {
		t := &test{pos: p.tok.pos}
		if err := p.operand(t); err != nil {
			return nil, err
		}
		list = append(list, &Operand{t})
		switch more, err := p.accept(","); {
		case err != nil:
			return nil, err
		case more:
		case p.tok.kind != tokenEnd:
			return nil, p.errorf(p.tok.pos, "want a comma before the next field, got %v", p.tok)
		default:
			return list, nil
		}
	}
}

// String returns the operand in canonical form, which ParseOperands accepts.
func (o *Operand) String() string { return o.t.operand() }

// Never returns why the operand cannot have numeric values: "$provider is a string". It returns "" for a field, a label
// and a numeric property. $time is numeric: nanoseconds since the start of the trace.
func (o *Operand) Never() string {
	switch attrs[o.t.attr].kind {
	case kindText, kindID, kindOwner:
		return o.String() + " is a string"
	}
	return ""
}

// IsTime reports whether the operand is $time.
func (o *Operand) IsTime() bool { return o.t.attr == attrTime }

// An Owner is the kind of an operand that is the name of what recorded the event. Events do not state this name, so
// Columns do not read it.
type Owner uint8

const (
	OwnerNone    Owner = iota // any other operand
	OwnerProcess              // $process, the name of the process
	OwnerThread               // $thread, the name of the thread
)

// Owner returns the kind of the operand.
func (o *Operand) Owner() Owner {
	switch o.t.attr {
	case attrProcess:
		return OwnerProcess
	case attrThread:
		return OwnerThread
	}
	return OwnerNone
}

// guidFields describes an ID as a payload, because [ntconv.GUIDValue] allocates.
func guidFields() []ntconv.Field {
	return []ntconv.Field{{Name: "ID", Type: ntconv.FieldType{Code: ntconv.TypeGUID}}}
}
