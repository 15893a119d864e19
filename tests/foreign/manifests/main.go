// Prints what Kubernetes or Compose would be told, as JSON. A field that their types do not have is an error.
//
//	manifests kustomize FOLDER    the resources of a kustomization
//	manifests compose FILE...     the merged project, with variables of the environment filled in
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func main() {
	document, err := read(os.Args[1:])
	if err == nil {
		_, err = os.Stdout.Write(document)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(args []string) ([]byte, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("usage: manifests kustomize FOLDER | compose FILE...")
	}
	switch args[0] {
	case "kustomize":
		return kustomize(args[1])
	case "compose":
		return compose(args[1:])
	}
	return nil, fmt.Errorf("no such command: %s", args[0])
}

func kustomize(folder string) ([]byte, error) {
	builder := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	resources, err := builder.Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	documents := []json.RawMessage{}
	for _, resource := range resources.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return nil, err
		}
		kind := resource.GetGvk()
		object, err := scheme.Scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.Kind, resource.GetName(), err)
		}
		document, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, err
		}
		documents = append(documents, bytes.TrimSpace(document))
	}
	return json.Marshal(documents)
}

func compose(files []string) ([]byte, error) {
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv)
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	return project.MarshalJSON()
}
