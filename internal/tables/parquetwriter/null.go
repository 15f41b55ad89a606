package parquetwriter

import (
	"math/bits"
	"reflect"
	"strings"
	"unsafe"
)

// An optionalField is a field of a row that parquet-go writes as NULL if its value is zero, empty or nil.
type optionalField struct {
	offset uintptr // of a word that is zero only then
	half   bool    // the word has 4 bytes, otherwise 8
}

// optionalFields returns the optional fields of a row type. parquet-go treats pointers differently.
func optionalFields(row reflect.Type) (list []optionalField) {
	for i := range row.NumField() {
		f := row.Field(i)
		if !strings.Contains(f.Tag.Get("parquet"), ",optional") {
			continue
		}
		switch f.Type.Kind() {
		case reflect.String:
			list = append(list, optionalField{f.Offset + unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(uintptr(0)) == 4}) // its length
		case reflect.Slice:
			list = append(list, optionalField{f.Offset, unsafe.Sizeof(uintptr(0)) == 4})
		case reflect.Int32, reflect.Float32:
			list = append(list, optionalField{f.Offset, true})
		case reflect.Int64, reflect.Float64:
			list = append(list, optionalField{f.Offset, false})
		}
	}
	return list
}

// exactNulls returns the number of rows, at least 1, that parquet-go 0.32 writes exactly in one call. It looks for NULLs
// in words of 64 rows. If the last values of a word follow as many rows as they are, it also takes the NULLs after them
// for values, so that empty strings and zeros replace them. The next call begins after such values.
func exactNulls[T any](rows []T, optional []optionalField) int {
	n := len(rows)
	for _, f := range optional {
		for base := 0; base < n; base += 64 {
			word := uint64(0)
			for i := range min(64, n-base) {
				if f.isSet(unsafe.Pointer(&rows[base+i])) {
					word |= 1 << i
				}
			}
			end := bits.Len64(word)
			run := bits.LeadingZeros64(^(word << (64 - end)))
			if word != 0 && end < 64 && end == 2*run {
				n = min(n, base+end)
			}
		}
	}
	return n
}

func (f optionalField) isSet(row unsafe.Pointer) bool {
	if f.half {
		return *(*uint32)(unsafe.Add(row, f.offset)) != 0
	}
	return *(*uint64)(unsafe.Add(row, f.offset)) != 0
}
