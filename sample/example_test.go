package sample_test

import (
	"fmt"

	"github.com/ntconv/ntconv/sample"
)

// A program that offers the kinds of profiles to its users lists them with their descriptions.
func Example() {
	k, err := sample.Parse("alloc")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k, "is", k.Doc())
	fmt.Println("1,204", sample.Exceptions.Noun(1204))
	// Output:
	// alloc is allocated objects and bytes
	// 1,204 exceptions
}
