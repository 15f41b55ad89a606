package parquet_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/parquet"
)

// The rows of any Parquet file become events. Options.Map assigns the columns that have no usual name to roles; the
// other columns become fields.
func ExampleNew() {
	type request struct {
		Begin  int64  `parquet:"begin"`
		Took   int32  `parquet:"took"`
		Route  string `parquet:"route"`
		Status int32  `parquet:"status"`
	}
	begin := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).UnixMilli()
	var file bytes.Buffer
	if err := pq.Write(&file, []request{{begin, 40, "Cart", 200}, {begin + 15, 10, "Stock", 404}}); err != nil {
		log.Fatal(err)
	}
	table := parquet.File("requests", bytes.NewReader(file.Bytes()), int64(file.Len()))
	src, err := parquet.New(table, &parquet.Options{Map: parquet.Mapping{"time": "begin:ms", "duration": "took:ms", "name": "route"}})
	if err != nil {
		log.Fatal(err)
	}
	clock := src.Info().Clock
	for e, err := range ntconv.Events(src) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		fmt.Print(clock.Since(clock.Tick, e.Time), " ", e.Type.Name)
		for field, value := range e.Fields() {
			fmt.Printf(" %s=%v", field.Name, value)
		}
		fmt.Println()
	}
	// Output:
	// 0s CartStart took=40 status=200
	// 15ms StockStart took=10 status=404
	// 25ms StockStop
	// 40ms CartStop
}
