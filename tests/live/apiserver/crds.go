package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const (
	pollEvery  = 50 * time.Millisecond
	readyAfter = 5 * time.Minute // a machine that is busy with other things takes a while
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// prepare waits until the API server is ready, applies the definitions of custom resources, and waits until their objects can be listed.
func prepare(ctx context.Context, id identity, port int, crds []*unstructured.Unstructured) error {
	config := &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", port),
		BearerToken:     id.admin,
		TLSClientConfig: rest.TLSClientConfig{CAData: id.authority},
		QPS:             -1, // no limit
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	var last error
	if !poll(ctx, func() bool {
		last = server.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil
	}) {
		return fmt.Errorf("the API server is not ready: %w", last)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if _, err := client.Resource(crdResource).Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "apiserver", Force: true}); err != nil {
			return fmt.Errorf("the definition %s is refused: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		if !poll(ctx, func() bool {
			_, last = client.Resource(servedResource(crd)).List(ctx, metav1.ListOptions{Limit: 1})
			return last == nil
		}) {
			return fmt.Errorf("the objects of %s cannot be listed: %w", crd.GetName(), errors.Join(last, conditions(ctx, client, crd)))
		}
	}
	return nil
}

func poll(ctx context.Context, done func() bool) bool {
	err := wait.PollUntilContextTimeout(ctx, pollEvery, readyAfter, true, func(context.Context) (bool, error) { return done(), nil })
	return err == nil
}

// readCRDs reads every document of every *.yaml of the folders, and makes each a definition that works without a conversion webhook.
func readCRDs(crdFolders []string) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	for _, folder := range crdFolders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("--crds %s has no *.yaml files (%v): name a folder with definitions of custom resources", folder, err)
		}
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			crds = append(crds, found...)
		}
	}
	return crds, nil
}

func readFile(file string) ([]*unstructured.Unstructured, error) {
	content, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	var crds []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(content, 4096); ; {
		crd := &unstructured.Unstructured{}
		if err := decoder.Decode(&crd.Object); errors.Is(err, io.EOF) {
			return crds, nil
		} else if err != nil {
			return nil, err
		}
		if crd.Object == nil {
			continue // nothing but comments
		}
		if crd.GetKind() != "CustomResourceDefinition" {
			return nil, fmt.Errorf("a document is of the kind %q: only CustomResourceDefinition is taken", crd.GetKind())
		}
		if err := keepStoredVersion(crd); err != nil {
			return nil, err
		}
		crds = append(crds, crd)
	}
}

// keepStoredVersion takes all versions but the stored one away, and the conversion with them. No webhook runs that would convert objects,
// and without one the API server gives the stored fields out under the name of the other version, and drops those that this one lacks.
func keepStoredVersion(crd *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	unstructured.RemoveNestedField(crd.Object, "status")
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return err
	}
	for _, version := range versions {
		if fields, ok := version.(map[string]any); ok && fields["storage"] == true {
			return unstructured.SetNestedSlice(crd.Object, []any{version}, "spec", "versions")
		}
	}
	return fmt.Errorf("no version of %s has `storage: true`", crd.GetName())
}

func servedResource(crd *unstructured.Unstructured) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	version, _, _ := unstructured.NestedString(versions[0].(map[string]any), "name")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// conditions are what the API server says about a definition, as an error.
func conditions(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) error {
	now, err := client.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	found, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
	return fmt.Errorf("its conditions are %v", found)
}
