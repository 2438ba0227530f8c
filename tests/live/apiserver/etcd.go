package main

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// A socket in the folder --data-dir, which only its owner may enter: no port is taken, and nobody else can write.
const etcdSocket = "unix://etcd-clients.sock"

// startEtcd starts the one member of a cluster, on the files of an earlier start where there are any, and returns when it serves.
func startEtcd(ctx context.Context, unsafeNoFsync bool) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Name = "test"
	config.Dir = "etcd"
	config.UnsafeNoFsync = unsafeNoFsync
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	// There is nobody else to elect, so an election need not be waited for.
	config.TickMs = 10
	config.ElectionMs = 100
	clients, peers := mustURL(etcdSocket), mustURL("unix://etcd-peers.sock")
	config.ListenClientUrls, config.AdvertiseClientUrls = clients, clients
	config.ListenPeerUrls, config.AdvertisePeerUrls = peers, peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	store, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd does not start: %w", err)
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case err := <-store.Err():
		store.Close()
		return nil, fmt.Errorf("etcd ended before it was ready: %w", err)
	case <-ctx.Done():
		store.Close()
		return nil, ctx.Err()
	}
}

func mustURL(text string) []url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		panic(err) // the texts are constants
	}
	return []url.URL{*parsed}
}
