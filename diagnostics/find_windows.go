package diagnostics

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
)

const (
	pipeDirectory = `\\.\pipe\`
	pipePrefix    = "dotnet-diagnostic-"
)

// find lists named pipes. A pipe exists as long as its process, so none is stale.
func find() ([]Process, error) {
	pattern, err := syscall.UTF16PtrFromString(pipeDirectory + "*")
	if err != nil {
		return nil, err
	}
	var data syscall.Win32finddata
	search, err := syscall.FindFirstFile(pattern, &data)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.FindClose(search) }()
	var list []Process
	for {
		name := syscall.UTF16ToString(data.FileName[:])
		if id, ok := strings.CutPrefix(name, pipePrefix); ok {
			if pid, err := strconv.Atoi(id); err == nil && pid > 0 {
				list = append(list, Process{PID: pid, InnerPID: pid, Socket: pipeDirectory + name, UID: -1})
			}
		}
		if err := syscall.FindNextFile(search, &data); errors.Is(err, syscall.ERROR_NO_MORE_FILES) {
			sortProcesses(list)
			return list, nil
		} else if err != nil {
			return nil, err
		}
	}
}
