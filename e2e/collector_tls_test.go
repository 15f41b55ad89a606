package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificates writes PEM files of an authority, and of a key and a certificate for this machine that the authority has
// signed.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		must(t, err)
		return path
	}
	newKey := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
		return k
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey, leafKey := newKey(), newKey()
	der, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	ca = write("ca.pem", "CERTIFICATE", der, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err = x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	cert = write("cert.pem", "CERTIFICATE", der, err)
	der, err = x509.MarshalECPrivateKey(leafKey)
	key = write("key.pem", "EC PRIVATE KEY", der, err)
	return ca, cert, key
}

// A collector that requires client certificates accepts the command's certificate. The command sends nothing to a
// collector whose certificate is not trusted.
func TestCollectorTLS(t *testing.T) {
	ca, cert, key := certificates(t)
	c := newCollector(t, "        tls:", "          cert_file: "+cert, "          key_file: "+key, "          client_ca_file: "+ca)
	path := find(t, "spans-stop").path
	sent := 0
	for _, endpoint := range []string{c.grpc, c.http} {
		r := run(t, command, "to", "otlp", path, "--endpoint", endpoint, "--ca", ca, "--cert", cert, "--key", key)
		if r.code != 0 || !strings.Contains(string(r.stderr), "41 spans sent to https://127.0.0.1:") {
			t.Errorf("%s: exit code %d: %s", endpoint, r.code, r.stderr)
		}
		sent += 41
		for _, args := range [][]string{{"--ca", ca}, {"--cert", cert, "--key", key}} {
			r := run(t, command, append([]string{"to", "otlp", path, "--endpoint", endpoint, "--retry-for", "0"}, args...)...)
			if r.code != 6 || !strings.Contains(string(r.stderr), "0 spans delivered") {
				t.Errorf("%s %s: exit code %d: %s", endpoint, args, r.code, r.stderr)
			}
		}
	}
	eventually(t, "the collector has all spans", func() bool { return c.received(t).total() == sent })
}
