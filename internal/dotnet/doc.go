// Package dotnet knows how .NET spells the names of methods, types and modules.
//
// The runtime names a method in one of two ways, and both arrive here raw:
//
//   - method events carry three texts (Method): the full name of the type, the name of the method, and a signature in the
//     runtime's own notation, where "int" is nint and "unsigned int8" is byte;
//   - perf maps, and the ProcessSymbol events made from them, carry one text (ParseSymbol): return type, module, type, method,
//     parameters and tier, in the notation of IL assembler.
//
// From either come three names. Raw is character for character what Microsoft's TraceEvent shows, for comparing and
// searching. Pretty is for reading, and follows C#:
//
//   - namespace, type and method, joined by dots; nested types as well (Outer.Inner). Constructors stay .ctor and .cctor, accessors
//     get_X and set_X, operators op_X: that is what stack traces and other tools call them.
//   - Type arguments where they are known: List<int>. The runtime compiles one body for all reference types and calls the argument
//     System.__Canon; that is T here, or T1, T2 and so on, numbered from the left, where there are several. An open type (List`1)
//     gets the same letters. A generic method's own parameters, of which method events tell only that they exist, are T if the type
//     has no letter of its own, else U.
//   - Parameters, so that overloads stay apart, by short name: (string, FileMode, T[], ref bool). Every place where the type's
//     own parameter is used shows the argument: List<int>.Add(int). Tuples, nullables and the primitive types are spelled as in C#.
//   - What the compiler made is filed under the method it was made from: Run.lambda_0, Run.Local for a local function, and
//     FetchAsync [async] or Lines [iterator] for the MoveNext of a state machine. The closure classes disappear, and so does the
//     hidden closure parameter of a local function.
//   - Explicitly implemented interface members keep the interface, by its short name: Single.IConvertible.ToChar.
//   - A type known only by the address of its method table (as in IL stubs) is "?": the address differs in each process.
//
// Short is Pretty without the namespace and without type arguments: List.Add(int). Different methods may have the same
// short name.
//
// Text that does not follow these notations is shown raw, never half translated.
package dotnet
