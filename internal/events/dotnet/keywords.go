package dotnet

import "strings"

// keyword returns the C# keyword for a type of the namespace System, or "".
func keyword(name string) string {
	name, ok := strings.CutPrefix(name, "System.")
	if !ok {
		return ""
	}
	switch name {
	case "Byte", "Char", "Decimal", "Double", "Object", "String", "Void", "SByte":
		return strings.ToLower(name)
	case "Boolean":
		return "bool"
	case "Int16":
		return "short"
	case "UInt16":
		return "ushort"
	case "Int32":
		return "int"
	case "UInt32":
		return "uint"
	case "Int64":
		return "long"
	case "UInt64":
		return "ulong"
	case "IntPtr":
		return "nint"
	case "UIntPtr":
		return "nuint"
	case "Single":
		return "float"
	}
	return ""
}

// primitive returns the C# keyword for the primitive type at the start of a signature, and the length of the type's
// name in s, or "" and 0. Method events write "unsigned int8", perf maps "uint8". In method events "int" is the native
// integer, and int32 the 32-bit one.
func primitive(s string) (string, int) {
	end := wordEnd(s, 0)
	for word := s[:end]; (word == "unsigned" || word == "native") && strings.HasPrefix(s[end:], " "); {
		next := wordEnd(s, end+1)
		word, end = s[end+1:next], next
	}
	return primitiveWord(s[:end]), end
}

// wordEnd returns the index after the letters and digits from i on. It returns i if another character of names follows,
// because then they are only the start of a name.
func wordEnd(s string, i int) int {
	from := i
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i < len(s) && !strings.ContainsRune("[]()<>,*& ", rune(s[i])) {
		return from
	}
	return i
}

func primitiveWord(s string) string {
	switch s {
	case "bool", "char", "object", "string", "void":
		return s
	case "wchar":
		return "char"
	case "int8":
		return "sbyte"
	case "unsigned int8", "uint8":
		return "byte"
	case "int16":
		return "short"
	case "unsigned int16", "uint16":
		return "ushort"
	case "int32":
		return "int"
	case "unsigned int32", "uint32":
		return "uint"
	case "int64":
		return "long"
	case "unsigned int64", "uint64":
		return "ulong"
	case "int", "native int":
		return "nint"
	case "unsigned int", "native unsigned int", "native uint", "uint":
		return "nuint"
	case "float32":
		return "float"
	case "float64":
		return "double"
	case "refany", "typedref":
		return "TypedReference"
	}
	return ""
}
