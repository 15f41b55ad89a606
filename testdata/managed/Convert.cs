// Converts the symbols of mcs (.mdb) to a portable PDB: Convert IN.dll OUT.dll [embedded]
using System;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.CompilerServices.SymbolWriter;

class Convert
{
    static void Main(string[] args)
    {
        var symbols = MonoSymbolFile.ReadSymbolFile(args[0] + ".mdb");
        var module = ModuleDefinition.ReadModule(args[0]);
        var documents = symbols.Sources.ToDictionary(s => s.FileName, s => new Document("/src/fixture/" + System.IO.Path.GetFileName(s.FileName)));
        foreach (var type in module.GetTypes())
            foreach (var method in type.Methods)
            {
                var entry = symbols.GetMethodByToken((int)method.MetadataToken.ToUInt32());
                if (entry == null || !method.HasBody) continue;
                foreach (var line in entry.GetLineNumberTable().LineNumbers)
                {
                    var instruction = method.Body.Instructions.FirstOrDefault(i => i.Offset == line.Offset);
                    if (instruction == null || method.DebugInformation.SequencePoints.Any(p => p.Offset == line.Offset)) continue;
                    var point = new SequencePoint(instruction, documents[entry.CompileUnit.SourceFile.FileName]);
                    if (line.IsHidden || line.Row == 0xfeefee) { point.StartLine = point.EndLine = 0xfeefee; }
                    else
                    {
                        point.StartLine = line.Row;
                        point.StartColumn = line.Column;
                        point.EndLine = line.EndRow > 0 ? line.EndRow : line.Row; // mcs records no ends
                        point.EndColumn = line.EndRow > 0 ? line.EndColumn : line.Column + 1;
                    }
                    method.DebugInformation.SequencePoints.Add(point);
                    Console.WriteLine("0x{0:x8} IL_{1:x4} {2}:{3} {4}", method.MetadataToken.ToUInt32(), line.Offset, line.Row, line.Column, line.IsHidden ? "hidden" : "");
                }
            }
        var options = new WriterParameters { DeterministicMvid = true, WriteSymbols = true,
            SymbolWriterProvider = args.Length > 2 ? (ISymbolWriterProvider)new EmbeddedPortablePdbWriterProvider() : new PortablePdbWriterProvider() };
        module.Write(args[1], options);
    }
}
