package scrub

import (
	"bytes"
	"strconv"
)

// An address has the same replacement in each of its forms: octet by octet, and those of no machine stay. Ports stay,
// because fields and attributes hold them as numbers.

// maxHost is the maximum length of a host and of what precedes it in a URL. It bounds the search for its start.
const maxHost = 255

// address replaces or copies the address or the port at the position. It returns false if there is none.
func (s *scanner) address() bool {
	rest := s.text[s.at:]
	n := 0
	switch b := rest[0]; {
	case b == 'I':
		return bytes.HasPrefix(rest, []byte("InterNetwork")) && s.socketAddress()
	case isDigit(rune(b)):
		if n = ipv4(rest); n > 0 {
			s.octets(bytes.Split(rest[:n], []byte(".")), '.')
			return true
		}
		if n = s.port(); n == 0 && b == '1' && s.startsIPv6() && !continuesIPv6(rest[1:]) {
			n = 1 // ::1
		}
	case bytes.HasPrefix(rest, []byte("ffff:")) && s.startsIPv6() && ipv4(rest[len("ffff:"):]) > 0:
		n = len("ffff") // an IPv4 address follows
	}
	s.copy(n)
	return n > 0
}

// ipv4 returns the length of the IPv4 address that a text begins with, or 0.
func ipv4(text []byte) int {
	at := 0
	for k := range 4 {
		n := at
		for n < len(text) && n < at+4 && isDigit(rune(text[n])) {
			n++
		}
		if v, err := strconv.Atoi(string(text[at:n])); err != nil || v > 255 {
			return 0
		}
		if at = n; k < 3 {
			if at == len(text) || text[at] != '.' {
				return 0
			}
			at++
		}
	}
	if at < len(text) && isWordRune(rune(text[at])) {
		return 0
	}
	return at
}

// octets replaces the octets of an IPv4 address, which are at the position with a separator between them.
func (s *scanner) octets(list [][]byte, separator byte) {
	stays := false
	switch string(bytes.Join(list, []byte("."))) {
	case "127.0.0.1", "0.0.0.0", "255.255.255.255": // of no machine
		stays = true
	}
	for i, octet := range list {
		if i > 0 {
			s.dst = append(s.dst, separator)
			s.at++
		}
		if s.at += len(octet); !stays {
			octet = s.dict.plain(octet)
		}
		s.dst = append(s.dst, octet...)
	}
}

// port returns the length of the port at the position, or 0 if there is none.
func (s *scanner) port() int {
	n := s.at
	for n < len(s.text) && isDigit(rune(s.text[n])) {
		n++
	}
	if v, err := strconv.ParseUint(string(s.text[s.at:n]), 10, 16); err != nil || v == 0 || s.at == 0 || s.text[s.at-1] != ':' {
		return 0
	}
	if n < len(s.text) && (wordBytes[s.text[n]] || bytes.IndexByte([]byte("@:%"), s.text[n]) >= 0 || s.text[n] >= 0x80) {
		return 0
	}
	if !s.endsHost(s.text[max(0, s.at-1-maxHost) : s.at-1]) {
		return 0
	}
	return n - s.at
}

// endsHost reports whether the text before a colon ends with a host: an IPv4 address, an IPv6 address in brackets, the
// host of a URL, or all of a text that is a host or an address by its class.
func (s *scanner) endsHost(before []byte) bool {
	if bytes.HasSuffix(before, []byte("]")) {
		open := bytes.LastIndexByte(before, '[')
		return open >= 0 && bytes.Count(before[open:], []byte(":")) > 1
	}
	start := len(before)
	for start > 0 && (wordBytes[before[start-1]] || bytes.IndexByte([]byte(".-_"), before[start-1]) >= 0 || before[start-1] >= 0x80) {
		start--
	}
	if host := before[start:]; len(host) == 0 || ipv4(host) == len(host) {
		return len(host) > 0
	}
	before = before[:start]
	if bytes.HasSuffix(before, []byte("@")) { // after a user and a password
		before = bytes.TrimRight(before, "@")
		before = before[:bytes.LastIndexAny(before, "/?# \"'")+1]
	}
	return bytes.HasSuffix(before, []byte("://")) || start == 0 && (s.class.name == classHost || s.class.name == classAddress)
}

// startsIPv6 reports whether the two colons that begin an IPv6 address are before the position.
func (s *scanner) startsIPv6() bool {
	before := s.text[:s.at]
	if !bytes.HasSuffix(before, []byte("::")) {
		return false
	}
	return len(before) == 2 || before[len(before)-3] != ':' && !wordBytes[before[len(before)-3]]
}

// continuesIPv6 reports whether a text goes on as an IPv6 address.
func continuesIPv6(text []byte) bool {
	return len(text) > 0 && (text[0] == ':' || text[0] == '.' || wordBytes[text[0]])
}

// socketAddress replaces the bytes of a socket address at the position, as .NET prints it. They are a port, an IPv4
// address and zeros, or a port, four bytes, an IPv6 address, which may contain an IPv4 address, and four bytes.
func (s *scanner) socketAddress() bool {
	head, rest, ok := bytes.Cut(s.text[s.at:min(len(s.text), s.at+maxHost)], []byte("{"))
	body, _, closed := bytes.Cut(rest, []byte("}"))
	family, _, _ := bytes.Cut(head, []byte(":"))
	from := 2 // position of the address
	switch string(family) {
	case "InterNetwork":
	case "InterNetworkV6":
		from = 6
	default:
		return false
	}
	list := bytes.Split(body, []byte(","))
	for _, b := range list {
		if _, err := strconv.ParseUint(string(b), 10, 8); err != nil {
			return false
		}
	}
	if !ok || !closed || len(list) < from+4 {
		return false
	}
	mapped := []byte("0,0,0,0,0,0,0,0,0,0,255,255")
	if from == 6 && len(list) >= 22 && bytes.Equal(bytes.Join(list[6:18], []byte(",")), mapped) {
		from = 18
	}
	s.copy(len(head) + 1)
	s.copy(len(bytes.Join(list[:from], []byte(","))) + 1)
	s.octets(list[from:from+4], ',')
	for _, b := range list[from+4:] {
		s.copy(1)
		s.dst = append(s.dst, s.dict.plain(b)...)
		s.at += len(b)
	}
	return true
}
