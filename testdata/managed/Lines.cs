// The program of the fixtures in this directory: its methods, and the lines of their statements, are known.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Fixture
{
    class Work
    {
        static double sink;

        static double Spin(int n)
        {
            double x = 1;
            for (int i = 0; i < n; i++)
                x += Math.Sqrt(x + i) /
                    (1 + x);
            return x;
        }

        static int Recurse(int depth)
        {
            if (depth == 0)
            {
                sink += Spin(200000);
                return 0;
            }
            return 1 +
                Recurse(depth - 1);
        }

        static T Generic<T>(T value, Func<T, T> f)
        {
            for (int i = 0; i < 3; i++)
                value = f(value);
            return value;
        }

        static IEnumerable<int> Numbers(int n)
        {
            for (int i = 0; i < n; i++)
            {
                sink += Spin(100000);
                yield return i;
            }
        }

        static int Main(string[] args)
        {
            int rounds = args.Length > 0 ? int.Parse(args[0]) : 1;
            int total = 0;
            for (int i = 0; i < rounds; i++)
            {
                total += Recurse(4);
                total += (int)Generic(1.5, v => v + Spin(100000));
                foreach (int n in Numbers(2))
                    total += n;
            }
            Console.WriteLine(total > 0 && sink > 0);
            return 0;
        }
    }
}
