package diagnostics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
)

// Ten seconds of samples of a process, as a trace.
func ExampleClient_Collect() {
	client := diagnostics.NewClient("/tmp/dotnet-diagnostic-42-1234-socket")
	session, err := client.Collect(context.Background(), diagnostics.Config{
		RundownKeywords: diagnostics.DefaultRundown,
		Providers:       []diagnostics.Provider{{Name: "Microsoft-DotNETCore-SampleProfiler", Level: 4}},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer session.Close()
	time.AfterFunc(10*time.Second, func() { _ = session.Stop(context.Background()) }) // while the copy below reads on
	_, _ = io.Copy(os.Stdout, session)
}

func ExampleError() {
	var err error = &diagnostics.Error{Command: "CollectTracing5", HResult: 0x80131385}
	fmt.Println(err)
	fmt.Println(errors.Is(err, diagnostics.ErrUnknownCommand))
	// Output:
	// CollectTracing5: the process answers 0x80131385: unknown command; the runtime is older than this command
	// true
}
