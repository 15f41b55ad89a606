package web

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// A site is the pages of several profiles. Those of the profile NAME are below /NAME/; other paths lead to the first
// profile.
type site []*pages

// ServeHTTP implements http.Handler.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(s) == 1 {
		s[0].ServeHTTP(w, r)
		return
	}
	for _, p := range s {
		if strings.HasPrefix(r.URL.Path, p.path+"/") {
			p.ServeHTTP(w, r)
			return
		}
	}
	if !slices.Contains(sitePages(), r.URL.Path) {
		http.NotFound(w, r)
		return
	}
	to := url.URL{Path: s[0].path + r.URL.Path, RawQuery: r.URL.RawQuery}
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusSeeOther)
}

// sitePages returns the paths that lead to the first profile.
func sitePages() []string {
	return []string{"/", "/flamegraph", "/top", "/peek", "/source", "/graph", "/disasm", "/download"}
}

// A menu is the switch between the profiles of a site on a page of one of them, and the way back to the page of
// ServerOptions.Page.
type menu struct {
	list    []View
	current int
	page    bool // there is such a page
}

// A menuLink is a link to a page of a profile.
type menuLink struct {
	Address template.URL
	Text    string
	Current bool
}

// name returns the name of the current profile, other if there is only one.
func (m *menu) name(other string) string {
	if m == nil || len(m.list) < 2 {
		return other
	}
	return m.list[m.current].Name
}

// links returns links to the page of a request for all profiles. They keep the selection of the request, except the
// sample type, which the other profiles do not have. It returns nil if there is only one profile.
func (m *menu) links(r *http.Request) (links []menuLink) {
	if m == nil || len(m.list) < 2 {
		return nil
	}
	query := r.URL.Query()
	query.Del("si")
	for i, v := range m.list {
		to := url.URL{Path: "/" + v.Name + "/" + path.Base(r.URL.Path), RawQuery: query.Encode()}
		links = append(links, menuLink{template.URL(to.String()), v.Text, i == m.current})
	}
	return links
}

// back returns the path of the page of ServerOptions.Page, "" if there is none.
func (m *menu) back() string {
	if m == nil || !m.page {
		return ""
	}
	return pagePath
}

// menuPlace is the first menu in the header of pprof's pages, before which the menu of profiles is inserted.
const menuPlace = `<div id="view" class="menu-item">`

// menuTemplate has the elements and classes of pprof's own menus, so that its scripts and styles apply.
var menuTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("menu").Parse(`{{if .Page}}<div class="menu-item">
    <div class="menu-name"><a href="{{.Page}}" title="Charts over time, tables, requests and threads">Page</a></div>
  </div>

  {{end}}{{if .Links}}<div id="kinds" class="menu-item">
    <div class="menu-name">
      {{.Current}}
      <i class="downArrow"></i>
    </div>
    <div class="submenu">
      {{range .Links}}<a href="{{.Address}}"{{if .Current}} aria-current="true"{{end}}>{{if .Current}}<span class="menu-check-mark">✓</span>{{end}}
        {{.Text}}</a>
      {{end}}
    </div>
  </div>

  {{end}}`))
})

// insert adds the menu to a page of pprof. pprof's templates escape all names, so no name can contain the place.
func (m *menu) insert(w *response, r *http.Request) error {
	before, after, ok := bytes.Cut(w.body.Bytes(), []byte(menuPlace))
	if !ok {
		return errors.New("the page has no place for the menu of profiles, so it is not shown")
	}
	var body bytes.Buffer
	body.Write(before)
	err := menuTemplate().Execute(&body, struct {
		Page, Current string
		Links         []menuLink
	}{m.back(), m.name(""), m.links(r)})
	body.WriteString(menuPlace)
	body.Write(after)
	w.body = body
	return err
}
