// No program: it says which release of Kueue the definitions of its custom resources are taken from, and go.sum beside it what they are.
// A module of its own, so that what Kueue requires has no say in what the API server is built from. `go mod tidy` would empty it.
module gpol.dev/tests/live/apiserver/kueue

go 1.26.0

require sigs.k8s.io/kueue v0.17.0
