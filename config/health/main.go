// Tells what GitOps tools make of resources: reads one as JSON from each line of standard input, and answers each with
// a line of JSON that holds the verdicts of kstatus, as Flux and Helm have it, and of Argo CD.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// As long as Argo CD lets a health check run.
const scriptDeadline = time.Second

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type answer struct {
	Kstatus verdict `json:"kstatus"`
	Argo    verdict `json:"argo"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: health <folder laid out as Argo CD's resource_customizations>"))
	}
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 1 {
			judged, judging := judge(os.Args[1], line)
			if judging != nil {
				fail(judging)
			}
			if writing := output.Encode(judged); writing != nil {
				fail(writing)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			fail(err)
		}
	}
}

func judge(folder string, line []byte) (*answer, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(line); err != nil {
		return nil, err
	}
	computed, err := status.Compute(object)
	if err != nil {
		return nil, err
	}
	kind := object.GroupVersionKind()
	script, err := os.ReadFile(filepath.Join(folder, kind.Group, kind.Kind, "health.lua"))
	if err != nil {
		return nil, err
	}
	argo, err := runHealthCheck(string(script), object)
	if err != nil {
		return nil, err
	}
	return &answer{Kstatus: verdict{string(computed.Status), computed.Message}, Argo: *argo}, nil
}

// With the libraries alone that Argo CD gives to scripts from its settings, but for its os, which ours have no need of.
func runHealthCheck(script string, object *unstructured.Unstructured) (*verdict, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	deadline, cancel := context.WithTimeout(context.Background(), scriptDeadline)
	defer cancel()
	state.SetContext(deadline)
	state.SetGlobal("obj", toLua(state, object.Object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the health check returned a %s, not a table", state.Get(-1).Type())
	}
	return &verdict{lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))}, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch content := value.(type) {
	case bool:
		return lua.LBool(content)
	case string:
		return lua.LString(content)
	case int64:
		return lua.LNumber(content)
	case float64:
		return lua.LNumber(content)
	case []any:
		list := state.NewTable()
		for _, item := range content {
			list.Append(toLua(state, item))
		}
		return list
	case map[string]any:
		table := state.NewTable()
		for member, item := range content {
			table.RawSetString(member, toLua(state, item))
		}
		return table
	}
	return lua.LNil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
