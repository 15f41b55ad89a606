// Command ntconv-fleet is ntconv with what a converter of traces need not contain: clients of object stores, catalogs of Apache
// Iceberg, and pipelines of Apache Beam. It has all commands of ntconv, and joins these to them by registration.
//
// It is a module of its own, so that the modules that it needs are not those of ntconv and of its library.
package main

import (
	"github.com/ntconv/ntconv/fleet/beamrun"
	"github.com/ntconv/ntconv/fleet/iceberg"
	"github.com/ntconv/ntconv/fleet/objectstore"
	"github.com/ntconv/ntconv/internal/run/command"
)

func main() {
	objectstore.Register()
	iceberg.Register()
	beamrun.Register(command.PipelineSteps) // does not return in a worker
	command.Main()
}
