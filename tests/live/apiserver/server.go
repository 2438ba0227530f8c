package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// serve runs the API server as the program kube-apiserver does, until the context is cancelled.
func serve(ctx context.Context, listener net.Listener, port int) error {
	opts := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range opts.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(serverFlags(port)); err != nil {
		return err
	}
	opts.SecureServing.Listener = listener
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // as kube-apiserver: it warns clients, and its own client is none of them
	completed, err := opts.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return errors.Join(errs...)
	}
	return app.Run(ctx, completed)
}

// serverFlags are the flags of kube-apiserver that differ from its defaults.
func serverFlags(port int) []string {
	return []string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + certificateFile,
		"--tls-private-key-file=" + certificateKeyFile,
		"--token-auth-file=" + tokensFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + serviceAccountKeyFile,
		"--service-account-key-file=" + serviceAccountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",              // an address of the loopback device cannot be the endpoint of a service
		"--shutdown-watch-termination-grace-period=2s", // without it, open watches hold up the end for a minute
		"--profiling=false",
		// These two wait for what only controllers do: making service accounts, and saying that nodes are ready.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
	}
}
