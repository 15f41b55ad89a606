// Package dotnet converts .NET names of methods, types and modules to display names.
//
// Its input are the runtime's own names, in one of two notations:
//
//   - Method events carry three strings (Method): the full name of the type, the name of the method, and a signature in
//     the notation of the runtime, where "int" is nint and "unsigned int8" is byte.
//   - Perf maps, and ProcessSymbol events built from them, carry one string (ParseSymbol): return type, module, type,
//     method, parameters and tier, in the notation of IL assembler.
//
// Each input yields three names. Raw is exactly the name that Microsoft's TraceEvent library shows, for comparing and
// searching. Pretty is a display name in the style of C#:
//
//   - Namespace, type and method are joined by dots, and so are nested types (Outer.Inner). Constructors remain .ctor
//     and .cctor, accessors get_X and set_X, operators op_X, as in stack traces and other tools.
//   - Known type arguments are shown: List<int>. The runtime compiles one body for all reference types and calls the
//     argument System.__Canon. It becomes T, or T1, T2 and so on from left to right if there are several. An open type
//     (List`1) gets the same letters. Method events state only that a method is generic. Its own type parameters are
//     called T if the type has no letter of its own, and U otherwise.
//   - Parameters distinguish overloads, by short name: (string, FileMode, T[], ref bool). Wherever a parameter of the
//     type occurs, its argument is shown: List<int>.Add(int). Tuples, nullables and primitive types are spelled as in
//     C#.
//   - Compiler-generated methods are named after their source method: Run.lambda_0, Run.Local for a local function, and
//     FetchAsync [async] or Lines [iterator] for the MoveNext of a state machine. Closure classes and the hidden
//     closure parameters of local functions are omitted.
//   - Explicit implementations of interface members keep the short name of the interface: Single.IConvertible.ToChar.
//   - A type of which only the address of its method table is known (as in IL stubs) is "?", because the address
//     differs in each process.
//
// Short is Pretty without the namespace and without type arguments: List.Add(int). Different methods may have the same
// short name.
//
// A name that does not follow these notations is shown raw, never partly translated.
package dotnet
