// Spawn starts a program with arguments and waits for its end, as a test runner does. mcs -out:spawn.dll spawn.cs compiles it.
using System;
using System.Diagnostics;

static class Spawn
{
    static int Main(string[] args)
    {
        Console.WriteLine("port " + (Environment.GetEnvironmentVariable("DOTNET_DiagnosticPorts") ?? "none"));
        var info = new ProcessStartInfo(args[0], string.Join(" ", args, 1, args.Length - 1)) { UseShellExecute = false };
        using (var child = Process.Start(info))
        {
            child.WaitForExit();
            return child.ExitCode;
        }
    }
}
