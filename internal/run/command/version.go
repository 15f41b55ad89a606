package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/spf13/cobra"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version, the commit it was built from, and the versions of Go and of the platform.",
		Example: examples("for a bug report",
			"ntconv version"),
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.show(versionText())
		},
	}
}

// versionText returns the text of ntconv version: the version of the module if it was installed with go install, and
// the commit if it was built in a checkout.
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
	return fmt.Sprintf("ntconv %s%s\n%s %s/%s\n", message.ModuleVersion(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
