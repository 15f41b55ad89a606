package pipeline

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/show/profilediff"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// A Regression is a row of the table of changes: a function, or all samples, of two consecutive builds of a service. The changes are
// those of ntconv diff.
type Regression struct {
	Service     string `parquet:"service,dict"`
	BuildBefore string `parquet:"build_before,dict"`
	BuildAfter  string `parquet:"build_after,dict"`
	Kind        string `parquet:"kind,dict"`
	SampleType  string `parquet:"sample_type,dict"`
	Unit        string `parquet:"unit,dict"`
	Per         string `parquet:"per,dict"`   // what values are divided by; "" for totals
	Scope       string `parquet:"scope,dict"` // scopeTotal or scopeFunction
	Function    string `parquet:"function,dict"`
	Status      string `parquet:"status,dict"`
	Verdict     string `parquet:"verdict,dict"`

	SelfBefore  float64  `parquet:"self_before"`
	SelfAfter   float64  `parquet:"self_after"`
	SelfChange  float64  `parquet:"self_change"`
	SelfMargin  *float64 `parquet:"self_margin,optional"`
	SelfP       *float64 `parquet:"self_p,optional"`
	TotalBefore float64  `parquet:"total_before"`
	TotalAfter  float64  `parquet:"total_after"`
	TotalChange float64  `parquet:"total_change"`
	TotalMargin *float64 `parquet:"total_margin,optional"`
	TotalP      *float64 `parquet:"total_p,optional"`
	Significant bool     `parquet:"significant"`

	TracesBefore  int64   `parquet:"traces_before"`
	TracesAfter   int64   `parquet:"traces_after"`
	SecondsBefore float64 `parquet:"seconds_before"`
	SecondsAfter  float64 `parquet:"seconds_after"`
}

// Values of Regression.Scope.
const (
	scopeTotal    = "total"
	scopeFunction = "function"
)

// RegressionSteps compare the builds of services. It implements Steps.
//
// Map writes a profile per trace, whose samples have times. Plan and Work append the recordings of a build to each other, Reduce compares
// the builds of a service in the order of their first recordings, and Publish writes the table.
type RegressionSteps struct {
	Job        *Job
	Convert    Convert // returns the item of BuildItem
	Jobs       int     // inputs that are converted at a time
	SampleType string
	Options    profilediff.Options                           // without Exposure
	Exposure   func(*profilediff.Recording) (float64, error) // what values are divided by
}

// Store writes the profile of a trace, and describes it. The caller sets the members about the trace.
func (j *Job) Store(p *profile.Profile, uid string) (*Profile, error) {
	if err := os.MkdirAll(j.file(profilesName), 0o777); err != nil {
		return nil, err
	}
	made := &Profile{UID: uid, Types: typesOf(p), Inputs: 1}
	return made, j.write(p, made)
}

// BuildItem returns the item for the profile of a trace.
func (p *Profile) BuildItem() *Item {
	return &Item{p.Service + "\x00" + p.Types + "\x00" + p.Build, Encode(p)}
}

// Map implements Steps.
func (s *RegressionSteps) Map(names []string, emit func(Item), note func(*Outcome)) error {
	return mapAll(names, s.Jobs, s.Convert, emit, note)
}

// Plan implements Steps.
func (s *RegressionSteps) Plan(_ string, values Values, emit func(Item)) error {
	list, err := profilesIn(values)
	if err != nil {
		return err
	}
	for _, bucket := range bucketsOf(list) {
		emit(Item{Key: bucket[0].UID, Value: Encode(bucket)})
	}
	return nil
}

// Work implements Steps.
func (s *RegressionSteps) Work(bucket Item, emit func(Item)) error {
	var list []Profile
	if err := json.Unmarshal(bucket.Value, &list); err != nil {
		return err
	}
	made, err := s.appendAll(list)
	if err == nil {
		emit(Item{made.Service + "\x00" + made.Types, Encode(made)})
	}
	return err
}

// appendAll appends recordings to each other.
func (s *RegressionSteps) appendAll(list []Profile) (*Profile, error) {
	made, err := s.Job.merge(list, profilediff.Append)
	if err != nil {
		return nil, err
	}
	sum := slices.Clone(made.Accuracy)
	for _, p := range list[1:] {
		for i := range sum {
			sum[i] = sum[i].Add(p.Accuracy[i])
		}
	}
	made.Accuracy = sum
	return made, nil
}

// rowsName is the directory of rows in Job.Work, one file per service.
const rowsName = "rows"

// Reduce implements Steps.
func (s *RegressionSteps) Reduce(key string, values Values, emit func(*Made)) error {
	list, err := profilesIn(values)
	if err != nil {
		return err
	}
	var order []string // builds by their first recording
	byBuild := make(map[string][]Profile)
	for _, p := range list {
		if byBuild[p.Build] == nil {
			order = append(order, p.Build)
		}
		byBuild[p.Build] = append(byBuild[p.Build], p)
	}
	var rows []Regression
	var before *Profile
	for _, build := range order {
		after, err := s.appendAll(byBuild[build])
		if err != nil {
			return err
		}
		if before != nil {
			more, err := s.compare(before, after)
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
		before = after
	}
	sum := sha256.Sum256([]byte(key))
	name := s.Job.file(filepath.Join(rowsName, hex.EncodeToString(sum[:])))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	inputs := 0
	for _, p := range list {
		inputs += p.Inputs
	}
	emit(&Made{Name: list[0].Service, Inputs: inputs, Rows: int64(len(rows))})
	return replaceFile(name, Encode(rows))
}

// compare returns the rows for two builds.
func (s *RegressionSteps) compare(before, after *Profile) ([]Regression, error) {
	var profiles [2]*profile.Profile
	for i, p := range []*Profile{before, after} {
		var err error
		if profiles[i], err = s.Job.read(p); err != nil {
			return nil, err
		}
	}
	of, ofBefore, err := web.SharedType(profiles[1], profiles[0], s.SampleType)
	if err != nil {
		return nil, fmt.Errorf("%s: builds %s and %s: %w", after.Service, before.Build, after.Build, err)
	}
	o := s.Options
	list := [2]*profilediff.Recording{
		profilediff.Read(profiles[0], ofBefore, before.Accuracy[ofBefore]), profilediff.Read(profiles[1], of, after.Accuracy[of]),
	}
	for i, p := range []*Profile{before, after} {
		list[i].Name, list[i].Kind, list[i].Estimate = p.Build, p.Kind, p.Estimate
		if o.Exposure[i], err = s.Exposure(list[i]); err != nil {
			return nil, fmt.Errorf("%s: build %s: %w", p.Service, p.Build, err)
		}
	}
	c := profilediff.Compare(list[0], list[1], &o)
	c.Sort(false)
	common := Regression{
		Service: after.Service, BuildBefore: before.Build, BuildAfter: after.Build, Kind: after.Kind, SampleType: c.Type, Unit: c.Unit,
		Per: c.Per, TracesBefore: int64(before.Inputs), TracesAfter: int64(after.Inputs), SecondsBefore: list[0].Seconds, SecondsAfter: list[1].Seconds,
	}
	total := common
	total.Scope, total.Significant = scopeTotal, c.Total.Significant
	total.set(&c.Total, &c.Total)
	rows := []Regression{total}
	for i := range c.Functions {
		f := &c.Functions[i]
		row := common
		row.Scope, row.Function, row.Status, row.Verdict = scopeFunction, f.Name, f.Status, string(f.Verdict)
		row.Significant = f.Verdict != profilediff.NotChanged && f.Verdict != profilediff.NotTested
		row.set(&f.Self, &f.Total)
		rows = append(rows, row)
	}
	return rows, nil
}

// set sets the values.
func (r *Regression) set(self, total *profilediff.Change) {
	r.SelfBefore, r.SelfAfter, r.SelfChange, r.SelfMargin, r.SelfP = self.Before, self.After, self.Change, self.Margin, self.P
	r.TotalBefore, r.TotalAfter, r.TotalChange, r.TotalMargin, r.TotalP = total.Before, total.After, total.Change, total.Margin, total.P
}

// Publish implements Steps.
func (s *RegressionSteps) Publish(records Values) error {
	if err := s.Job.publish(records); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(s.Job.file(rowsName), "*"))
	if err != nil || len(names) == 0 {
		return err
	}
	var rows []Regression
	for _, name := range names {
		data, err := os.ReadFile(name)
		var more []Regression
		if err == nil {
			err = json.Unmarshal(data, &more)
		}
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		return nil // no service has two builds
	}
	slices.SortStableFunc(rows, func(a, b Regression) int { return cmp.Compare(a.Service, b.Service) })
	temp := s.Job.temp(outName)
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = writeRegressions(w, rows, s.Job.Output)
	if err = errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, s.Job.file(outName)); err != nil {
		return err
	}
	return s.Job.reveal()
}

// RegressionFormats returns the extensions of outputs.
func RegressionFormats() []string { return []string{".parquet", ".tsv"} }

// writeRegressions writes rows in the format of the extension of a name.
func writeRegressions(w io.Writer, rows []Regression, name string) error {
	if filepath.Ext(name) == ".tsv" {
		return writeTSV(w, rows)
	}
	t := parquetwriter.NewWriter[Regression](w, &parquetwriter.Options{})
	if err := t.Write(rows); err != nil {
		return err
	}
	return t.Close()
}

// writeTSV writes rows as text with a line of names. Absent values are empty.
func writeTSV(w io.Writer, rows []Regression) error {
	t := csv.NewWriter(w)
	t.Comma = '\t'
	of := reflect.TypeFor[Regression]()
	record := make([]string, of.NumField())
	for i := range record {
		record[i], _, _ = strings.Cut(of.Field(i).Tag.Get("parquet"), ",")
	}
	if err := t.Write(record); err != nil {
		return err
	}
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for k := range record {
			v := row.Field(k)
			if v.Kind() == reflect.Pointer {
				if record[k] = ""; v.IsNil() {
					continue
				}
				v = v.Elem()
			}
			record[k] = fmt.Sprint(v.Interface())
		}
		if err := t.Write(record); err != nil {
			return err
		}
	}
	t.Flush()
	return t.Error()
}
