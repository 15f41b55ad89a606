package tracegen

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
)

// Metadata IDs of the events of Options.Runtime.
const (
	typeAllocation = typeMapping + 1 + iota
	typeException
	typeLock
	typeUnlock
)

// A runtimeEvent is an event of Options.Runtime: its type, and its payload, which is always the same.
type runtimeEvent struct {
	id      uint32
	payload []byte
}

// runtimeTypes returns the types of the events of Options.Runtime.
func runtimeTypes() []wirestream.Type {
	const provider = "Microsoft-Windows-DotNETRuntime"
	return []wirestream.Type{
		{ID: typeAllocation, Provider: provider, Event: 10, Version: 4},
		{ID: typeException, Provider: provider, Event: 80, Version: 1},
		{ID: typeLock, Provider: provider, Event: 81, Version: 1},
		{ID: typeUnlock, Provider: provider, Event: 91, Version: 1},
	}
}

// runtimeEvents returns the events that each thread repeats: an allocation, an exception, and the start and the end of a
// wait for a lock.
func runtimeEvents() []runtimeEvent {
	le := binary.LittleEndian
	allocation := le.AppendUint32(nil, 106_496)                  // AllocationAmount
	allocation = le.AppendUint32(allocation, 0)                  // AllocationKind: small
	allocation = le.AppendUint16(allocation, 0)                  // ClrInstanceID
	allocation = le.AppendUint64(allocation, 106_496)            // AllocationAmount64
	allocation = le.AppendUint64(allocation, methodBase)         // TypeID
	allocation = bin.AppendUTF16Z(allocation, "Generator.Order") // TypeName
	allocation = le.AppendUint32(allocation, 0)                  // HeapIndex
	allocation = le.AppendUint64(allocation, methodBase)         // Address
	allocation = le.AppendUint64(allocation, 64)                 // ObjectSize

	exception := bin.AppendUTF16Z(nil, "Generator.StockException")
	exception = bin.AppendUTF16Z(exception, "out of stock")
	exception = append(exception, make([]byte, 8+4+2+2)...) // EIP, HRESULT, flags, ClrInstanceID

	lock := []byte{0, 0, 0} // ContentionFlags, ClrInstanceID
	unlock := le.AppendUint64([]byte{0, 0, 0}, math.Float64bits(50_000))
	return []runtimeEvent{{typeAllocation, allocation}, {typeException, exception}, {typeLock, lock}, {typeUnlock, unlock}}
}
