// Program gofakeit writes, as JSON, what the functions of gofakeit are, the library behind xk6-faker: for each function
// its parameters, and one value with the type that it has in Go.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"

	"github.com/brianvoe/gofakeit/v6"
)

type function struct {
	Display string   `json:"display"`
	Params  []string `json:"params"`
	Kind    string   `json:"kind"`
	Value   any      `json:"value"`
	Error   string   `json:"error"`
}

// samples are arguments for parameters without a default that the library itself can read.
var samples = map[string][]string{
	"[]int":    {"14", "8", "13"},
	"[]string": {"one", "two", "three"},
	"[]uint":   {"14", "8", "13"},
	"float":    {"3"},
	"int":      {"3"},
	"string":   {"a-##-??"},
	"uint":     {"3"},
}

func described(info gofakeit.Info) function {
	of := function{Display: info.Display, Params: []string{}}
	given := gofakeit.MapParams{}
	for _, param := range info.Params {
		of.Params = append(of.Params, param.Field)
		if param.Default == "" && !param.Optional || strings.HasPrefix(param.Default, "[") {
			given[param.Field] = samples[param.Type]
		}
	}
	value, err := info.Generate(rand.New(rand.NewSource(11)), &given, &info)
	if err != nil {
		of.Error = err.Error()
		return of
	}
	of.Kind, of.Value = reflect.TypeOf(value).String(), value
	return of
}

func main() {
	functions := map[string]function{}
	for key, info := range gofakeit.FuncLookups {
		functions[key] = described(info)
	}
	if err := json.NewEncoder(os.Stdout).Encode(functions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
