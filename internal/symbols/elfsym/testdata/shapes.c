#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline __attribute__((always_inline)) unsigned mix(unsigned a, unsigned b) {
  a ^= b;
  a *= 2654435761u;
  return a ^ (a >> 15);
}

static inline __attribute__((always_inline)) unsigned rounds(unsigned a, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    a = mix(a, i);
  return a;
}

static __attribute__((noinline)) int compare(const void *x, const void *y) {
  unsigned a = *(const unsigned *)x, b = *(const unsigned *)y;
  return a < b ? -1 : a > b;
}

__attribute__((noinline)) unsigned fill(unsigned *values, unsigned n) {
  unsigned last = 0;
  for (unsigned i = 0; i < n; i++)
    values[i] = last = rounds(i, 3) + mix(last, n);
  return last;
}

unsigned alias_of_fill(unsigned *values, unsigned n) __attribute__((alias("fill")));

int main(int argc, char **argv) {
  unsigned values[64];
  unsigned last = fill(values, 64);
  qsort(values, 64, sizeof values[0], compare);
  char text[32];
  snprintf(text, sizeof text, "%u %u", last, values[rounds((unsigned)argc, 2) % 64]);
  return strlen(text) > 40 || argv == NULL;
}
