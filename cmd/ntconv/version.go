package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
)

func versionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version, the commit it was built from, and the versions of Go and of the platform.",
		Example: examples(formats.Example{Remark: "for a bug report", Line: "ntconv version"}),
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.show(versionText())
		},
	}
}

// versionText tells what the binary says about itself: the module's version where it was installed with go install, and
// the commit where it was built in a checkout.
func versionText() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		dirty := ""
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					dirty = " with changes"
				}
			}
		}
		commit += dirty
	}
	if commit != "" {
		commit = " (" + commit + ")"
	}
	return fmt.Sprintf("ntconv %s%s\n%s %s/%s\n", version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of the module, "unknown" if the binary does not state it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
