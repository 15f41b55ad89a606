package schema_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// A trace has no description of the runtime's own events. Describe adds their names and fields.
func ExampleDescribe() {
	file, err := os.Open("../testdata/alloc-verbose.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	src, err := reader.New(file, nil)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range ntconv.Events(schema.Describe(src)) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent && e.Type.Name == "GCStart" {
			depth, _ := e.Field("Depth")
			fmt.Println(e.Type.Provider, e.Type.Name, "of generation", depth)
			break
		}
	}
	// Output: Microsoft-Windows-DotNETRuntime GCStart of generation 0
}
