package e2e

import (
	"bytes"
	"flag"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateImages = flag.Bool("update-images", false, "take the pictures in ../docs/images again")

// A screen is a picture in docs/images.
type screen struct {
	image, height string
	trace         string // in testdata
	kind          string // of the profile for speedscope, "" for ntconv view
	actions       []string
	title, path   string   // of the page
	menu          []string // kinds in the menu of ntconv view
}

var screens = []screen{
	{
		image: "view-alloc.png", height: "390", trace: "alloc-verbose", actions: []string{"go:/flamegraph", "open:#kinds .menu-name"},
		title: "shop.dll alloc_space", path: "/alloc/flamegraph", menu: []string{"alloc", "gc"},
	},
	{
		image: "view-wait.png", height: "345", trace: "waits", actions: []string{"go:/wait/flamegraph", "open:#kinds .menu-name"},
		title: "shop.dll delay", path: "/wait/flamegraph", menu: []string{"wall", "contention", "wait", "jit"},
	},
	{
		image: "view-exceptions.png", height: "300", trace: "exceptions", actions: []string{"go:/flamegraph"},
		title: "shop.dll exceptions", path: "/flamegraph",
	},
	{
		image: "speedscope-alloc.png", height: "450", trace: "alloc-verbose", kind: "alloc", title: "alloc.pb.gz - speedscope",
		path: "/index.html",
	},
}

// A shownPage is what screens.mjs reports of a page.
type shownPage struct {
	Title, Address string
	Kinds, Errors  []string
}

// The pages that docs/images shows exist with the kinds of the trace in their menu, run without an error, and their
// pictures are in the documents. With -update-images, the pictures are taken again.
func TestScreens(t *testing.T) {
	needBrowser(t)
	needNode(t, "speedscope")
	page := contentAt(t, filepath.Join("..", "docs", "profiles.md"))
	for _, s := range screens {
		if !bytes.Contains(page, []byte("(images/"+s.image+")")) {
			t.Errorf("docs/profiles.md does not show %s", s.image)
		}
		t.Run(s.image, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), s.image)
			if *updateImages {
				path = filepath.Join("..", "docs", "images", s.image)
			}
			in := find(t, s.trace).path
			target := ""
			if s.kind == "" {
				target = startView(t, in)
			} else {
				target = filepath.Join(t.TempDir(), s.kind+".pb.gz")
				succeed(t, "to", "pprof", "--kind", s.kind, in, "-o", target)
			}
			got := script[shownPage](t, 1, "node", append([]string{"screens.mjs", path, s.height, target}, s.actions...)...)[0]
			var menu []string
			for _, text := range got.Kinds {
				name, _, _ := strings.Cut(strings.Trim(text, "✓ \n"), ":")
				menu = append(menu, name)
			}
			if got.Title != s.title || !strings.HasSuffix(got.Address, s.path) || !slices.Equal(menu, s.menu) || len(got.Errors) > 0 {
				t.Errorf("%+v, want %+v", got, s)
			}
			checkImage(t, path, 1200)
			checkImage(t, filepath.Join("..", "docs", "images", s.image), 1200)
		})
	}
}

// The page of ntconv to html in light and dark colors and on a narrow screen is in the documents.
func TestPageScreens(t *testing.T) {
	needBrowser(t)
	documents := string(contentAt(t, filepath.Join("..", "README.md"))) + string(contentAt(t, filepath.Join("..", "docs", "html.md")))
	for _, s := range []struct {
		image, height string
		width         int
		actions       []string
	}{
		{"page-light.png", "860", 1200, nil}, {"page-dark.png", "860", 1200, []string{"dark"}}, {"page-narrow.png", "1100", 390, []string{"narrow"}},
	} {
		if !strings.Contains(documents, "images/"+s.image+")") {
			t.Errorf("no document shows %s", s.image)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, s.image)
		if *updateImages {
			path = filepath.Join("..", "docs", "images", s.image)
		}
		page := pageOf(t, dir, find(t, "otel-cpu").path)
		got := script[shownPage](t, 1, "node", append([]string{"screens.mjs", path, s.height, page}, s.actions...)...)[0]
		if len(got.Errors) > 0 {
			t.Errorf("%s: %q", s.image, got.Errors)
		}
		checkImage(t, path, s.width)
		checkImage(t, filepath.Join("..", "docs", "images", s.image), s.width)
	}
}

// checkImage checks that a picture has a width, is small, and is not blank.
func checkImage(t *testing.T, path string, width int) {
	t.Helper()
	data := contentAt(t, path)
	picture, err := png.Decode(bytes.NewReader(data))
	must(t, err)
	colors := map[[3]uint32]bool{}
	size := picture.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			r, g, b, _ := picture.At(x, y).RGBA()
			colors[[3]uint32{r, g, b}] = true
		}
	}
	if size.X != width || len(data) > 200_000 || len(colors) < 100 {
		t.Errorf("%s: %d pixels wide, %d bytes, %d colors", path, size.X, len(data), len(colors))
	}
}
