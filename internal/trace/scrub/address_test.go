package scrub

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An address and a port have one replacement wherever they stand: in a text, in a URL, in JSON, in tags and as the bytes
// of a socket address. Addresses of no machine stay, and so do ports, which fields and attributes hold as numbers.
func TestAddressesHaveOneReplacement(t *testing.T) {
	p, _ := classesOf(t)
	dotted := regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	for _, address := range []string{"127.0.0.1", "0.0.0.0", "255.255.255.255", "10.1.2.3", "192.168.100.7", "203.0.113.199"} {
		for key := range byte(20) {
			r := newRewriter(p, []byte{key, 15: 1}, false)
			var found []string
			for _, c := range []struct{ class, text string }{
				{"text", "A"}, {"log", "connect to A failed"}, {"host", "A:5199"}, {"log", "bound to A:5199, retry"}, {"url", "http://A:5199/x"},
				{"log", `{"a":"A:5199","b":[1,"A"]}`}, {"label", "[server.address, A],[server.port, 5199],[x, A]"},
				{"label", "[url.full, http://A:5199/x?*],[network.peer.address, ::ffff:A]"}, {"address", "::ffff:A"}, {"address", "[::ffff:A]:5199"},
				{"address", "InterNetwork:16:{20,79,C,0,0,0,0,0,0,0,0}"}, {"log", "no route to InterNetwork:16:{20,79,C,0,0,0,0,0,0,0,0}"},
				{"address", "InterNetworkV6:28:{20,79,0,0,0,0,0,0,0,0,0,0,0,0,0,0,255,255,C,0,0,0,0}"},
			} {
				in := strings.ReplaceAll(strings.ReplaceAll(c.text, "A", address), "C", strings.ReplaceAll(address, ".", ","))
				out := replaced(t, r, c.class, in)
				got := dotted.FindAllString(out, -1)
				if before, _, ok := strings.Cut(c.text, "C"); ok { // the same number of commas is before the address
					_, bytes, _ := strings.Cut(out, "{")
					from := strings.Count(before, ",")
					got = []string{strings.Join(strings.Split(bytes, ",")[from:from+4], ".")}
				}
				if len(got) == 0 {
					t.Errorf("%s: %q became %q, without an address", c.class, in, out)
				}
				found = append(found, got...)
				for _, part := range []string{"5199", ":16:{20,79,", ":28:{20,79,0,0,", "255,255,", "::ffff:"} {
					if strings.Count(in, part) != strings.Count(out, part) {
						t.Errorf("%s: %q became %q, want the same %q", c.class, in, out, part)
					}
				}
			}
			slices.Sort(found)
			if found = slices.Compact(found); len(found) != 1 {
				t.Fatalf("%s became %q", address, found)
			}
			stays := address == "127.0.0.1" || address == "0.0.0.0" || address == "255.255.255.255"
			if (found[0] == address) != stays {
				t.Errorf("%s became %s", address, found[0])
			}
			var octets [4]int
			if _, err := fmt.Sscanf(found[0], "%d.%d.%d.%d", &octets[0], &octets[1], &octets[2], &octets[3]); err != nil || slices.Max(octets[:]) > 255 {
				t.Errorf("%s became %s", address, found[0])
			}
			for i, octet := range strings.Split(address, ".") { // also alone
				if out := replaced(t, r, "text", octet); !stays && out != strings.Split(found[0], ".")[i] {
					t.Errorf("%s became %s, but alone %s became %s", address, found[0], octet, out)
				}
			}
		}
	}
}

// What only looks like a port is replaced: the end of an IPv6 address, a password, a number in a text, and digits that
// are too many for a port.
func TestWhatIsNotAPort(t *testing.T) {
	p, _ := classesOf(t)
	r := newRewriter(p, []byte("key"), false)
	for _, c := range []struct{ class, text string }{
		{"url", "http://[2001:db8::5678]/"}, {"address", "2001:db8::5678"}, {"address", "fe80::5678:5678"}, {"url", "http://user:5678@host/"}, {"log", "order:5678"},
		{"log", `{"order":5678}`}, {"label", "[order, 5678],[a:5678]"}, {"host", "host:56785678"}, {"log", "10.1.2.3:5678abc"}, {"command-line", "dotnet a:5678"},
		{"url", "http://host/a:5678"},
	} {
		if out := replaced(t, r, c.class, c.text); strings.Contains(out, "5678") || len(out) != len(c.text) {
			t.Errorf("%s: %q became %q", c.class, c.text, out)
		}
	}
}

// The loopback address of IPv6 stays as that of IPv4 does.
func TestLoopbackOfIPv6(t *testing.T) {
	p, _ := classesOf(t)
	r := newRewriter(p, []byte("key"), false)
	for _, text := range []string{"::1", "[::1]:5000", "[a, ::1]"} {
		for _, class := range []string{"address", "label"} {
			if out := replaced(t, r, class, text); strings.TrimLeft(out, "abcdefghijklmnopqrstuvwxyz[, ") != strings.TrimLeft(text, "a[, ") {
				t.Errorf("%s: %q became %q", class, text, out)
			}
		}
	}
	for _, text := range []string{"fe80::1", "a::1", "::1:2", "::12"} {
		if out := replaced(t, r, "address", text); out == text {
			t.Errorf("%q stays", text)
		}
	}
}
