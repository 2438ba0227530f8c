// Command apiserver runs the Kubernetes project's own API server, with etcd in the same process, for tests.
//
// It has real API machinery (storage, watches, server-side apply, admission, RBAC) and nothing else: no controllers and no scheduler.
// So a deleted namespace stays in the phase Terminating, and nothing is collected through owner references.
//
// Everything it keeps is in the folder --data-dir. When it is ended, also by SIGKILL, and started again on the same folder and port,
// clients find the same objects, certificates and tokens. It prints one line, `ready https://127.0.0.1:PORT`, when it can be used.
// It ends in order on SIGTERM, and when its standard input is closed, so that nothing is left of a test that was killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What has not ended in order after this time is ended at once: open requests may hold up the API server.
const endWithin = 30 * time.Second

// settings are what the command line says.
type settings struct {
	dataDir       string
	port          int
	crdFolders    folders
	unsafeNoFsync bool
}

// folders is a flag that may be given several times. Its values are absolute paths.
type folders []string

func (f *folders) String() string { return strings.Join(*f, ",") }

func (f *folders) Set(value string) error {
	path, err := filepath.Abs(value)
	*f = append(*f, path)
	return err
}

func readSettings() (settings, error) {
	var s settings
	flag.StringVar(&s.dataDir, "data-dir", "", "folder of everything that is kept; it is made where it is absent")
	flag.IntVar(&s.port, "port", 0, "port on 127.0.0.1; 0: any that is free")
	flag.Var(&s.crdFolders, "crds", "folder with definitions of custom resources (*.yaml), which are applied; may be given several times")
	flag.BoolVar(&s.unsafeNoFsync, "unsafe-no-fsync", false, "do not wait for the disk; what was written outlives a killed process, not a power failure")
	flag.Parse()
	if flag.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q: there are only flags, see --help", flag.Arg(0))
	}
	if s.dataDir == "" {
		return s, errors.New("--data-dir is missing: name the folder of everything that is kept")
	}
	if s.port < 0 || s.port > 65535 {
		return s, fmt.Errorf("--port %d is no port: give a number from 1 to 65535, or 0 for any that is free", s.port)
	}
	return s, nil
}

func main() {
	s, err := readSettings()
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(2)
	}
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	go func() {
		<-ctx.Done()
		time.Sleep(endWithin)
		fmt.Fprintf(os.Stderr, "apiserver: it did not end in order within %s and is ended now\n", endWithin)
		os.Exit(1)
	}()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

// run starts etcd and the API server, says when they are ready, and returns when both have ended.
func run(ctx context.Context, s settings) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	crds, err := readCRDs(s.crdFolders)
	if err != nil {
		return err
	}
	// The names of sockets may have about 100 characters only, a folder of a test more: with a relative name the folder does not count.
	if err := enterDataDir(s.dataDir); err != nil {
		return err
	}
	listener, port, err := listen(s.port)
	if err != nil {
		return err
	}
	id, err := readOrMakeIdentity()
	if err != nil {
		return err
	}
	if err := id.writeKubeconfigs(port); err != nil {
		return err
	}
	store, err := startEtcd(ctx, s.unsafeNoFsync)
	if err != nil {
		return err
	}
	defer store.Close()

	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, port) }()
	ready := make(chan error, 1)
	go func() { ready <- prepare(ctx, id, port, crds) }()

	select {
	case err := <-ended:
		return errors.Join(errors.New("the API server ended before it was ready"), err)
	case err := <-ready:
		if err != nil && ctx.Err() == nil {
			cancel()
			return errors.Join(err, <-ended)
		}
	}
	if ctx.Err() == nil {
		fmt.Printf("ready https://127.0.0.1:%d\n", port)
	}
	return <-ended
}
