package recording

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// TestRuntime checks that the version of the runtime is found.
func TestRuntime(t *testing.T) {
	src, err := reader.NewBytes(corpus.Trace(t, "cpu-default").Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r ProcessReader
	var got Process
	for e := range ntconv.Events(src) {
		if e.Kind == ntconv.KindEvent && Describes(e.Type) {
			r.Learn(&got, e)
		}
	}
	if got.Runtime != ".NET" || got.Version != "10.0.12" || got.OS != "linux" || got.Arch != "amd64" || got.Service() == UnknownService {
		t.Errorf("%+v", got)
	}
}

func TestServiceName(t *testing.T) {
	for _, c := range []struct{ command, name, want string }{
		{"/opt/rec/shop/shop /opt/rec/shop/shop.dll spans 4 1", "", "shop"},
		{"/usr/bin/dotnet /srv/App.dll --x y.dll", "", "App"},
		{"dotnet exec --depsfile a.deps.json Shop.Web.DLL", "", "Shop.Web"},
		{`"C:\Program Files\dotnet\dotnet.exe" "C:\My App\Till.dll" 1`, "", "Till"},
		{`"C:\Program Files\Shop\Shop.Till.exe" -v`, "", "Shop.Till"},
		{"dotnet run", "", UnknownService},
		{"dotnet", "shop", UnknownService},
		{"", "", UnknownService},
		{"  ", "shop", "shop"},
		{"", "dotnet", UnknownService},
		{`"`, "", UnknownService},
		{".dll", "", ".dll"},
		{"/", "", UnknownService},
	} {
		if got := serviceName(c.command, c.name); got != c.want {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}
