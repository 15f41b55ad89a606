// Package repository has the tests of what no package alone is responsible for: which package may import which, the
// public API, dependencies, documents and their examples. They run in the directory of the module.
package repository
