package storefake

import (
	"context"
	"fmt"
	"net"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

// The account that every Azurite has.
const (
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// azurite returns the program azurite-blob: the one that AZURITE names, that of the packages of Node in or above the directory of the
// test, or that of the system; "" if there is none.
func azurite() string {
	if name := os.Getenv("AZURITE"); name != "" {
		return name
	}
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "node_modules", ".bin", "azurite-blob")
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	name, _ := exec.LookPath("azurite-blob")
	return name
}

// NewAzure starts Azurite, Microsoft's emulator of Azure Blob Storage, which ends with the test. It skips the test if there is none.
func NewAzure(t testing.TB) *Server {
	t.Helper()
	program := azurite()
	if program == "" {
		t.Skip("Azurite is not installed: npm --prefix fleet install --no-save azurite@3.35.0")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = free.Close()
	cmd := exec.Command(program, "--silent", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort", port)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	// Requests go through a proxy of this process, which makes some of them fail.
	s := serve(t, "azblob", httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
	createContainer(t, "http://"+address)
	s.environment = []string{
		"AZURE_STORAGE_ACCOUNT=" + azureAccount, "AZURE_STORAGE_KEY=" + azureKey,
		fmt.Sprintf("NTCONV_AZBLOB=protocol=http&localemu=true&domain=%s", url.QueryEscape(s.URL[len("http://"):])),
	}
	return s
}

// createContainer waits until Azurite answers, and creates the bucket.
func createContainer(t testing.TB, address string) {
	t.Helper()
	text := fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s/%s;", azureAccount, azureKey, address, azureAccount)
	client, err := azblob.NewClientFromConnectionString(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if _, err = client.CreateContainer(ctx, Bucket, nil); err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("Azurite does not start: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
