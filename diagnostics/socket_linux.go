package diagnostics

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the maximum length in bytes of the path of a Unix socket: sun_path without the final NUL.
const maxSocketPath = 107

// shortPath returns a path of the same socket that fits into sun_path. It is valid until release is called. Paths of
// sockets in containers are those of the process after /proc/PID/root, and may become too long.
func shortPath(path string) (short string, release func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	const openPath = 0x200000 // O_PATH: needs no permission to read the directory
	dir, name := filepath.Split(path)
	fd, err := syscall.Open(dir, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, name), func() { _ = syscall.Close(fd) }, nil
}

// hasHungUp reports whether the process at the other end of a connection has closed it. Bytes that have not been read
// do not matter.
func hasHungUp(c connection) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) { gone = polledHangUp(int(fd)) })
	return gone || err != nil
}

// polledHangUp asks the kernel for the state of a socket without waiting.
func polledHangUp(fd int) bool {
	set, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(set) }()
	event := syscall.EpollEvent{Events: syscall.EPOLLRDHUP}
	if err := syscall.EpollCtl(set, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		return false
	}
	var found [1]syscall.EpollEvent
	n, err := syscall.EpollWait(set, found[:], 0)
	return err == nil && n == 1 && found[0].Events&(syscall.EPOLLRDHUP|syscall.EPOLLHUP|syscall.EPOLLERR) != 0
}
