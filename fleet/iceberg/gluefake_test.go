package iceberg

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ntconv/ntconv/fleet/storefake"
)

// glueFake has the operations of AWS Glue's API that a publication needs (X-Amz-Target: AWSGlue.NAME, JSON 1.1). As Glue does, it
// refuses the change of a table whose version is not the one that the caller has read.
type glueFake struct {
	mu        sync.Mutex
	databases map[string]map[string]map[string]any // tables by database and name
}

// serveGlue starts the fake, and lets the AWS SDK find it.
func serveGlue(t *testing.T) {
	t.Helper()
	g := &glueFake{databases: make(map[string]map[string]map[string]any)}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	for _, v := range storefake.AWS("AWS_ENDPOINT_URL_GLUE", server.URL) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}

// A glueRequest has the members of all requests that matter here.
type glueRequest struct {
	DatabaseName, Name, VersionID string
	DatabaseInput                 struct{ Name string }
	TableInput                    map[string]any
}

func (g *glueFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var q glueRequest
	answer, failure := any(nil), "InvalidInputException"
	if json.NewDecoder(r.Body).Decode(&q) == nil {
		answer, failure = g.do(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AWSGlue."), &q)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if failure != "" {
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]string{"__type": failure, "Message": failure}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// do returns the answer to a request, or the type of an error.
func (g *glueFake) do(operation string, q *glueRequest) (answer any, failure string) {
	tables, known := g.databases[q.DatabaseName]
	name, _ := q.TableInput["Name"].(string)
	switch operation {
	case "CreateDatabase":
		if g.databases[q.DatabaseInput.Name] != nil {
			return nil, "AlreadyExistsException"
		}
		g.databases[q.DatabaseInput.Name] = make(map[string]map[string]any)
	case "GetDatabase":
		if g.databases[q.Name] == nil {
			return nil, "EntityNotFoundException"
		}
		return map[string]any{"Database": map[string]any{"Name": q.Name}}, ""
	case "GetTables":
		if !known {
			return nil, "EntityNotFoundException"
		}
		list := []map[string]any{}
		for t := range maps.Values(tables) {
			list = append(list, t)
		}
		return map[string]any{"TableList": list}, ""
	case "GetTable":
		if tables[q.Name] == nil {
			return nil, "EntityNotFoundException"
		}
		return map[string]any{"Table": tables[q.Name]}, ""
	case "CreateTable", "UpdateTable":
		old := tables[name]
		switch {
		case !known, old == nil && operation == "UpdateTable":
			return nil, "EntityNotFoundException"
		case old != nil && operation == "CreateTable":
			return nil, "AlreadyExistsException"
		case old != nil && q.VersionID != old["VersionId"]:
			return nil, "ConcurrentModificationException"
		}
		version := 0
		if old != nil {
			version, _ = strconv.Atoi(q.VersionID)
		}
		q.TableInput["DatabaseName"], q.TableInput["VersionId"] = q.DatabaseName, strconv.Itoa(version+1)
		tables[name] = q.TableInput
	default:
		return nil, "InvalidInputException"
	}
	return struct{}{}, ""
}
