package otlpclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// An authority is a certificate authority in PEM files: its own certificate, and a key with a certificate that it has
// signed.
type authority struct {
	ca, cert, key string
	pool          *x509.CertPool
	pair          tls.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	dir := t.TempDir()
	a := &authority{ca: filepath.Join(dir, "ca.pem"), cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, kind string, der []byte) {
		must(os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, caKey.Public(), caKey)
	must(err)
	write(a.ca, "CERTIFICATE", der)
	root, err = x509.ParseCertificate(der)
	must(err)
	a.pool.AddCert(root)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err = x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), caKey)
	must(err)
	write(a.cert, "CERTIFICATE", der)
	der, err = x509.MarshalECPrivateKey(key)
	must(err)
	write(a.key, "EC PRIVATE KEY", der)
	a.pair, err = tls.LoadX509KeyPair(a.cert, a.key)
	must(err)
	return a
}

// With both protocols, the client checks the receiver's certificate against the authority and presents its own.
func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{a.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool}
	r := &webReceiver{answers: []webAnswer{{status: 200}}}
	secure := httptest.NewUnstartedServer(r)
	secure.TLS = config.Clone()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are expected
	secure.StartTLS()
	t.Cleanup(secure.Close)
	remote := server(t, &grpcReceiver{t: t, answers: []grpcAnswer{{}}})
	remote.TLS = config.Clone()
	remote.EnableHTTP2 = true
	remote.Config.ErrorLog = secure.Config.ErrorLog
	remote.StartTLS()
	for _, endpoint := range []string{secure.URL + "/v1/traces", remote.URL} {
		for name, c := range map[string]struct {
			config Config
			ok     bool
		}{
			"right":          {Config{CA: a.ca, Cert: a.cert, Key: a.key}, true},
			"unchecked":      {Config{SkipVerify: true, Cert: a.cert, Key: a.key}, true},
			"no authority":   {Config{Cert: a.cert, Key: a.key}, false},
			"other":          {Config{CA: other.ca, Cert: a.cert, Key: a.key}, false},
			"no certificate": {Config{CA: a.ca}, false},
		} {
			c.config.Endpoint = endpoint
			u := client(t, &c.config)
			if u.Plain(otlp.Traces) {
				t.Errorf("%s is plain", endpoint)
			}
			err := upload(t.Context(), u, 1)
			if (err == nil) != c.ok {
				t.Errorf("%s, %s: %v", endpoint, name, err)
			}
			if err != nil && name != "no certificate" && !errors.Is(err, otlp.ErrNotReceived) {
				t.Errorf("%s, %s: nothing was sent: %v", endpoint, name, err)
			}
			if name == "other" && !strings.Contains(err.Error(), "Config.CA") {
				t.Errorf("no advice: %v", err)
			}
		}
	}
}

func TestTLSFiles(t *testing.T) {
	a := newAuthority(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{CA: "none.pem"}, {CA: empty}, {Cert: a.cert}, {Key: a.key}, {Cert: a.key, Key: a.cert}} {
		for _, protocol := range []Protocol{GRPC, HTTPJSON} {
			c.Endpoint, c.Protocol = "https://127.0.0.1:1", protocol
			if u, err := New(&c); err == nil {
				t.Errorf("%+v: %v", c, u)
			}
		}
	}
}
