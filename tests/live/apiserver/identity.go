package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// The files of the folder `identity`: they are made once and stay the same, whatever else happens to the data.
const (
	identityFolder        = "identity"
	certificateFile       = "identity/server.crt" // of the server, and of the authority that signed it
	certificateKeyFile    = "identity/server.key"
	serviceAccountKeyFile = "identity/service-accounts.key"
	tokensFile            = "identity/tokens.csv" // as --token-auth-file of the API server takes it
	adminTokenFile        = "identity/admin.token"
	visitorTokenFile      = "identity/visitor.token"
)

// identity is what a client needs to trust the server, and to be known to it.
type identity struct {
	authority []byte // certificates, PEM
	admin     string // token of a user of the group system:masters, who may do everything
	visitor   string // token of a user with no rights beyond those of everybody; tests bind roles to the user `visitor` as needed
}

// readOrMakeIdentity reads the folder `identity`. It is made under another name first, so it is whole or absent.
func readOrMakeIdentity() (identity, error) {
	if _, err := os.Stat(identityFolder); os.IsNotExist(err) {
		if err := makeIdentity(); err != nil {
			return identity{}, fmt.Errorf("certificates and tokens cannot be made: %w", err)
		}
	}
	var contents [3][]byte
	for i, name := range []string{certificateFile, adminTokenFile, visitorTokenFile} {
		content, err := os.ReadFile(name)
		if err != nil {
			return identity{}, fmt.Errorf("a file of an earlier start cannot be read (%w): give an empty --data-dir", err)
		}
		contents[i] = content
	}
	return identity{authority: contents[0], admin: string(contents[1]), visitor: string(contents[2])}, nil
}

func makeIdentity() error {
	serverCert, serverKey, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, []string{"localhost"})
	if err != nil {
		return err
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	accountsKey, err := keyutil.MarshalPrivateKeyToPEM(signer)
	if err != nil {
		return err
	}
	admin, visitor := randomToken(), randomToken()
	tokens := fmt.Sprintf("%s,admin,admin,\"system:masters\"\n%s,visitor,visitor\n", admin, visitor)

	unfinished := identityFolder + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	if err := os.Mkdir(unfinished, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		certificateFile:       serverCert,
		certificateKeyFile:    serverKey,
		serviceAccountKeyFile: accountsKey,
		tokensFile:            []byte(tokens),
		adminTokenFile:        []byte(admin),
		visitorTokenFile:      []byte(visitor),
	} {
		if err := os.WriteFile(filepath.Join(unfinished, filepath.Base(name)), content, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(unfinished, identityFolder)
}

func randomToken() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:]) // never fails
	return hex.EncodeToString(bytes[:])
}

// writeKubeconfigs writes `kubeconfig` for the admin and `kubeconfig-visitor`, at every start, since the port may differ.
func (id identity) writeKubeconfigs(port int) error {
	for file, token := range map[string]string{"kubeconfig": id.admin, "kubeconfig-visitor": id.visitor} {
		config := clientcmdapi.NewConfig()
		config.Clusters["test"] = &clientcmdapi.Cluster{
			Server:                   fmt.Sprintf("https://127.0.0.1:%d", port),
			CertificateAuthorityData: id.authority,
		}
		config.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
		config.CurrentContext = "test"
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			return fmt.Errorf("%s cannot be written: %w", file, err)
		}
	}
	return nil
}
