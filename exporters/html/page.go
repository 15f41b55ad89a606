package html

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"sync"
)

// pageFiles are the parts of the page. The patterns leave out tests, tools and modules of npm.
//
//go:embed page/index.html page/modules.txt page/*.css page/*.js
//go:embed page/vendor/uPlot.esm.js page/vendor/uPlot.min.css page/vendor/uPlot.LICENSE
var pageFiles embed.FS

// styles are the style sheets in their order.
var styles = []string{"vendor/uPlot.min.css", "page.css", "page-views.css"}

// A template is the page without its title and blocks: template[0], title, template[1], blocks, template[2] with the script, the
// rest, template[3]. The script begins while the browser still reads the rest.
type template [4]string

// pageTemplate returns the template. The parts of the page are constant, so it panics if they do not fit together.
var pageTemplate = sync.OnceValue(func() template {
	t, err := newTemplate(pageFiles)
	if err != nil {
		panic(err)
	}
	return t
})

// newTemplate assembles the page: index.html with the policy, the styles and the modules that modules.txt lists.
func newTemplate(files embed.FS) (t template, err error) {
	read := func(name string) string {
		b, readErr := files.ReadFile("page/" + name)
		if err == nil {
			err = readErr
		}
		return string(b)
	}
	var css strings.Builder
	for _, name := range styles {
		css.WriteString("\n" + read(name))
	}
	code := script(read)
	index := strings.NewReplacer("{{policy}}", policy(code, css.String()), "{{css}}", css.String(), "{{code}}", code).Replace(read("index.html"))
	if err != nil {
		return t, err
	}
	head, rest, ok1 := strings.Cut(index, "{{title}}")
	middle, last, ok2 := strings.Cut(rest, "{{data}}")
	run, tail, ok3 := strings.Cut(last, "{{rest}}")
	if !ok1 || !ok2 || !ok3 || !strings.Contains(run, code) {
		return t, fmt.Errorf("index.html: want the placeholders policy, css, title, data, code and rest, data before the others")
	}
	return template{head, middle, run, tail}, nil
}

// script returns the script of the page: the library, then the modules without imports and exports, all in one block, because
// a script that is no module runs as soon as it has been read, and shares the names outside of blocks with the browser.
func script(read func(name string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n/*\n%s*/\n'use strict';\n{\nconst uPlot = (() => {\n", read("vendor/uPlot.LICENSE"))
	appendModule(&b, read("vendor/uPlot.esm.js"))
	b.WriteString("return uPlot; })();\n")
	for name := range strings.FieldsSeq(read("modules.txt")) {
		appendModule(&b, read(name))
	}
	b.WriteString("}\n")
	return b.String()
}

// appendModule appends a module without its imports and exports, each of which is on a line of its own.
func appendModule(b *strings.Builder, module string) {
	for line := range strings.Lines(module) {
		if !strings.HasPrefix(line, "import ") && !strings.HasPrefix(line, "export {") {
			b.WriteString(strings.TrimPrefix(line, "export "))
		}
	}
	b.WriteByte('\n')
}

// policy returns the content security policy: the page runs its own script and styles, and loads nothing.
func policy(code, css string) string {
	return "default-src 'none'; script-src " + hashSource(code) + "; style-src " + hashSource(css) +
		"; img-src data: blob:; base-uri 'none'; form-action 'none'"
}

func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// A block is compressed data in a page, with the id of its element.
type block struct {
	id   string
	data []byte
	last bool // after the script
}

const (
	blockBegin = `<script type="text/plain" id="%s">`
	blockEnd   = "</script>\n"
)

// pageSize returns the size in bytes of a page.
func pageSize(title string, blocks []block) int64 {
	n := int64(len(html.EscapeString(title)))
	for _, part := range pageTemplate() {
		n += int64(len(part))
	}
	for _, b := range blocks {
		n += int64(len(fmt.Sprintf(blockBegin, b.id)) + base64.StdEncoding.EncodedLen(len(b.data)) + len(blockEnd))
	}
	return n
}

// writePage writes a page and returns its size in bytes.
func writePage(w io.Writer, title string, blocks []block) (n int64, err error) {
	t := pageTemplate()
	out := bufio.NewWriter(w)
	write := func(text string) {
		written, writeErr := out.WriteString(text)
		n, err = n+int64(written), cmp.Or(err, writeErr)
	}
	writeBlocks := func(last bool) {
		for _, b := range blocks {
			if b.last != last {
				continue
			}
			write(fmt.Sprintf(blockBegin, b.id))
			for piece := range slices.Chunk(b.data, base64Piece) {
				write(base64.StdEncoding.EncodeToString(piece))
			}
			write(blockEnd)
		}
	}
	write(t[0] + html.EscapeString(title) + t[1])
	writeBlocks(false)
	write(t[2])
	writeBlocks(true)
	write(t[3])
	return n, cmp.Or(err, out.Flush())
}

// base64Piece is the number of bytes that are encoded at once, a multiple of 3.
const base64Piece = 3 << 12
