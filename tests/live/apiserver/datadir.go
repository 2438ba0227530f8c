package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
)

// Ports from here on, up to the next number, are tried when any will do. Linux gives the ports from 32768 on to outgoing connections:
// one of those could be taken by somebody else while the server is ended and started again.
const (
	firstPort  = 20000
	endOfPorts = 32768
)

// enterDataDir makes the folder, works in it from now on, and holds a lock on it until the process ends, however it ends.
func enterDataDir(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the folder of --data-dir cannot be made: %w", err)
	}
	if err := os.Chdir(folder); err != nil {
		return fmt.Errorf("the folder of --data-dir cannot be entered: %w", err)
	}
	lock, err := syscall.Open("lock", syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("%s/lock cannot be opened: %w", folder, err)
	}
	if err := syscall.Flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another server works in %s (%w): end it, or give another --data-dir", folder, err)
	}
	return nil
}

// listen takes the port; 0 stands for any that is free.
func listen(port int) (net.Listener, int, error) {
	if port != 0 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, 0, fmt.Errorf("port %d cannot be used (%w): give another --port, or 0 for any that is free", port, err)
		}
		return listener, port, nil
	}
	var last error
	for range 100 {
		candidate := firstPort + rand.IntN(endOfPorts-firstPort)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", candidate))
		if err == nil {
			return listener, candidate, nil
		}
		last = err
	}
	return nil, 0, fmt.Errorf("no free port was found from %d to %d: %w", firstPort, endOfPorts-1, last)
}
