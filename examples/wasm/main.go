//go:build js

// Command wasm predicts with a model in browsers and Node, without anything that trains or reads files:
//
//	mercer export adult.mercer --target go -o model/model.go
//	GOOS=js GOARCH=wasm go build -ldflags="-s -w" -o adult.wasm .
//
// Run by Go's wasm_exec.js ($(go env GOROOT)/lib/wasm), it defines predict(row), of an array of numbers and texts in the order of the
// model's columns. That is an object with the fields of model.Prediction, in small letters; class is a number in model.Classes.
package main

import (
	"math"
	"reflect"
	"strings"
	"syscall/js"

	"wasm/model"
)

func main() {
	var m model.Model
	js.Global().Set("predict", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var row model.Row
		fill(reflect.ValueOf(&row).Elem(), args[0])
		p, fault := m.Predict(&row)
		if fault != 0 {
			return js.Null() // a missing number that the model does not know, or scores that are no numbers
		}
		return value(reflect.ValueOf(p))
	}))
	js.Global().Set("selfTest", js.FuncOf(func(js.Value, []js.Value) any { return model.SelfTest() }))
	select {}
}

// fill sets the fields of a row, or the numbers of an array. What is neither a number nor a text is missing.
func fill(row reflect.Value, values js.Value) {
	at, n := row.Index, row.Len
	if row.Kind() == reflect.Struct {
		at, n = row.Field, row.NumField
	}
	for i := range n() {
		switch v := values.Index(i); {
		case at(i).Kind() == reflect.String && v.Type() == js.TypeString:
			at(i).SetString(v.String())
		case at(i).CanFloat() && v.Type() == js.TypeNumber:
			at(i).SetFloat(v.Float())
		case at(i).CanFloat():
			at(i).SetFloat(math.NaN())
		}
	}
}

// value is a prediction, or a part of it, for JavaScript.
func value(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			fields[strings.ToLower(v.Type().Field(i).Name)] = value(v.Field(i))
		}
		return fields
	case reflect.Array:
		all := make([]any, v.Len())
		for i := range all {
			all[i] = value(v.Index(i))
		}
		return all
	case reflect.Float32:
		return v.Float()
	}
	return v.Interface()
}
