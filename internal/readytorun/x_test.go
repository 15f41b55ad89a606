package readytorun

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/ecma"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

func TestX(t *testing.T) {
	dir := "/tmp/traceevent-0-29028632/bundle/shared/Microsoft.NETCore.App/10.0.12/"
	imgs := map[string]*Image{}
	mds := map[string]*ecma.Metadata{}
	load := func(name string) *ecma.Image {
		data, err := os.ReadFile(dir + name + ".dll")
		if err != nil {
			return nil
		}
		pe, err := ecma.ParseImage(data)
		if err != nil {
			t.Error(err)
			return nil
		}
		return pe
	}
	asm := func(name string, mvid [16]byte) *ecma.Metadata {
		if m, ok := mds[name]; ok {
			return m
		}
		if pe := load(name); pe != nil {
			mds[name], _ = pe.Metadata()
		}
		return mds[name]
	}
	paths, _ := filepath.Glob("/work/shared/data/own/*.zst")
	total, equal, missing, sig, nm := 0, 0, 0, 0, 0
	shown := 0
	for _, path := range paths {
		r, err := reader.New(bytes.NewReader(corpus.Read(t, path)), nil)
		if err != nil {
			continue
		}
		modules := map[uint64]string{}
		type mm struct {
			start          uint64
			token          uint32
			module         uint64
			flags          uint32
			ns, name, sign string
		}
		var ms []mm
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if e.Kind != ntconv.KindEvent {
				continue
			}
			switch clr.ClassOf(e.Type) {
			case clr.ClassModule:
				var m clr.Module
				if clr.ParseModule(e, &m) {
					modules[m.ModuleID] = bin.UTF16String(m.ILPath)
				}
			case clr.ClassMethod:
				var m clr.Method
				if clr.ParseMethod(e, &m) && m.Verbose && m.Flags&9 == 0 {
					ms = append(ms, mm{m.Start, m.Token, m.ModuleID, m.Flags, bin.UTF16String(m.Namespace), bin.UTF16String(m.Name), bin.UTF16String(m.Signature)})
				}
			}
		}
		bases := map[uint64]map[uint64]int{}
		for _, m := range ms {
			p := modules[m.module]
			if p == "" || m.token == 0 || m.flags&8 != 0 {
				continue
			}
			name := filepath.Base(p)
			name = name[:len(name)-4]
			img, ok := imgs[name]
			if !ok {
				if pe := load(name); pe != nil {
					s := time.Now()
					img, err = Open(pe, asm)
					if err != nil {
						fmt.Println(name, err)
					} else {
						fmt.Println(name, img.Methods(), img.count, time.Since(s))
					}
				}
				imgs[name] = img
			}
			if img == nil {
				continue
			}
			for _, e := range img.entryPoints {
				if e.component == 0 && methodDefToken|e.at == m.token {
					if bases[m.module] == nil {
						bases[m.module] = map[uint64]int{}
					}
					bases[m.module][m.start-uint64(img.begin(e.function))]++
				}
			}
		}
		for _, m := range ms {
			if m.flags&0x8 != 0 && false {
				continue
			}
			p := modules[m.module]
			if p == "" {
				continue
			}
			// find base that contains
			found := false
			var gm Method
			var ok bool
			for id, bs := range bases {
				best, n := uint64(0), 0
				for b, c := range bs {
					if c > n {
						best, n = b, c
					}
				}
				nn := filepath.Base(modules[id])
				img := imgs[nn[:len(nn)-4]]
				if m.start >= best && m.start-best < uint64(img.pe.Limit()) {
					found = true
					gm, ok = img.Lookup(uint32(m.start - best))
				}
			}
			if !found {
				missing++
				continue
			}
			total++
			switch {
			case ok && gm.Type == m.ns && gm.Name == m.name && gm.Signature == m.sign:
				equal++
			default:
				if ok && gm.Type == m.ns && gm.Name == m.name {
					sig++
				} else {
					nm++
				}
				if shown < 60 {
					shown++
					fmt.Printf("%s\n   want %s|%s|%s %x\n    got %s|%s|%s %x %v\n", filepath.Base(path), m.ns, m.name, m.sign, m.token, gm.Type, gm.Name, gm.Signature, gm.Token, ok)
				}
			}
		}
	}
	fmt.Println("total", total, "equal", equal, "sig", sig, "name", nm, "nobase", missing)
}
