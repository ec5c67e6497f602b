package serve

import (
	"encoding/json"
	"strings"
)

// operation is what the description says of a route.
type operation struct {
	text   string
	in     *content
	answer string // a schema; "any" for an object, "text", "html"
}

// content is a body.
type content struct {
	text, schema string
	types        []string
}

type object = map[string]any

// describe is the OpenAPI description of the server.
func (s *Server) describe() []byte {
	paths := object{}
	for _, r := range s.table() {
		if r.doc == nil {
			continue
		}
		path := strings.TrimSuffix(r.path, "{$}")
		op := object{"summary": r.doc.text, "operationId": strings.ToLower(r.method) + strings.NewReplacer("/", "_", "{", "", "}", "").Replace(path)}
		var parameters []any
		for _, part := range strings.Split(path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
			}
		}
		if r.name == "predict" {
			for _, p := range [][2]string{{"scores", "1: with the scores"}, {"explain", "1: with what each column contributes to a score"},
				{"class", "the class, label or target whose score is explained"},
				{"interval", "a probability such as 0.9: with the ends of the interval that holds the truth with it; 1: of the usual probability"}} {
				parameters = append(parameters, object{"name": p[0], "in": "query", "description": p[1], "schema": object{"type": "string"}})
			}
		}
		if parameters != nil {
			op["parameters"] = parameters
		}
		if r.doc.in != nil {
			bodies := object{}
			for _, t := range r.doc.in.types {
				schema := object{"type": "string"}
				if t == "application/json" {
					schema = reference(r.doc.in.schema)
				}
				bodies[t] = object{"schema": schema}
			}
			op["requestBody"] = object{"required": true, "description": r.doc.in.text, "content": bodies}
		}
		responses := object{"200": object{"description": "done", "content": answers(r)}}
		for _, e := range failures(r) {
			responses[e[0]] = object{"description": e[1], "content": object{"application/json": object{"schema": reference("Error")}}}
		}
		op["responses"] = responses
		if r.open || len(s.access.tokens) == 0 {
			op["security"] = []any{}
		}
		at, ok := paths[path].(object)
		if !ok {
			at = object{}
			paths[path] = at
		}
		at[strings.ToLower(r.method)] = op
	}
	all := object{
		"openapi": "3.1.0",
		"info":    object{"title": "Mercer", "version": version(), "description": "Predictions of kernel machines."},
		"paths":   paths,
		"components": object{"schemas": schemas(),
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}
	if len(s.access.tokens) > 0 {
		all["security"] = []any{object{"token": []any{}}}
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic("serve: " + err.Error()) // it is made of texts
	}
	return append(text, '\n')
}

func answers(r *route) object {
	switch r.doc.answer {
	case "html":
		return object{"text/html": object{"schema": object{"type": "string"}}, "application/json": object{"schema": object{}}}
	case "text":
		return object{"text/plain": object{"schema": object{"type": "string"}}}
	case "any":
		return object{"application/json": object{"schema": object{}}}
	}
	all := object{"application/json": object{"schema": reference(r.doc.answer)}}
	if r.doc.in != nil {
		for _, t := range r.doc.in.types {
			if t != "application/json" && r.doc.answer != "PredictionList" {
				all[t] = object{"schema": object{"type": "string"}}
			}
		}
	}
	return all
}

// failures are the statuses of errors with what they mean.
func failures(r *route) (all [][2]string) {
	if !r.open {
		all = append(all, [2]string{"401", "no valid token"})
	}
	if strings.Contains(r.path, "{name}") || strings.Contains(r.path, "{action}") || r.path == "/predict" || r.path == "/invocations" {
		all = append(all, [2]string{"404", "no such model"})
	}
	if r.method == "POST" {
		all = append(all, [2]string{"400", "the body is not what is expected, and the error says where"}, [2]string{"413", "the body is too large"},
			[2]string{"415", "the content type is not known"}, [2]string{"503", "too many rows wait; Retry-After says when to try again"},
			[2]string{"504", "the deadline of the request is over"})
	} else if r.open {
		all = append(all, [2]string{"503", "the server is closing"})
	}
	if r.control {
		all = append(all, [2]string{"403", "clients may not load and unload models"})
	}
	if r.method == "GET" {
		all = append(all, [2]string{"400", "a header is not what is expected"})
	}
	return all
}

func reference(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func schemas() object {
	list := func(of object) object { return object{"type": "array", "items": of} }
	text, number := object{"type": "string"}, object{"type": "number"}
	value := object{"type": []any{"number", "string", "boolean", "null"}}
	record := object{"type": "object", "additionalProperties": value, "description": "a value for each column by its name"}
	row := list(value)
	spread := object{"anyOf": []any{number, list(number)}}
	prediction := object{"type": "object", "required": []any{"prediction"}, "properties": object{
		"prediction":    object{"description": "a class, a number, or a list of labels or numbers"},
		"probabilities": object{"type": "object", "additionalProperties": number},
		"scores":        list(number),
		"deviation":     spread, "lower": spread, "upper": spread,
		"contributions": object{"type": "object", "required": []any{"of", "base", "score", "values"}, "properties": object{"of": text,
			"base": number, "score": number, "values": object{"type": "object", "additionalProperties": number}}}}}
	tensor := object{"type": "object", "required": []any{"name", "shape", "datatype"}, "properties": object{
		"name": text, "shape": list(object{"type": "integer", "minimum": 0}), "datatype": object{"type": "string", "enum": []any{
			"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BF16", "BYTES"}},
		"parameters": object{"type": "object"}, "data": object{"type": "array"}}}
	settings := object{"type": "object", "properties": object{"interval": object{"type": []any{"number", "string", "boolean", "null"},
		"description": "as in the query of /predict"}}}
	rows := list(object{"anyOf": []any{record, row}})
	return object{
		"Error":       object{"type": "object", "required": []any{"error"}, "properties": object{"error": text}},
		"Rows":        object{"anyOf": []any{record, rows}},
		"Predictions": object{"anyOf": []any{prediction, list(prediction)}},
		"Instances":   object{"type": "object", "required": []any{"instances"}, "properties": object{"instances": rows, "parameters": settings}},
		"Invocation": object{"type": "object", "properties": object{"instances": rows, "inputs": object{}, "dataframe_records": list(record),
			"dataframe_split": object{"type": "object", "properties": object{"columns": list(text), "data": list(row)}}, "params": settings}},
		"PredictionList": object{"type": "object", "required": []any{"predictions"}, "properties": object{"predictions": object{"type": "array"}}},
		"InferRequest": object{"type": "object", "required": []any{"inputs"}, "properties": object{"id": text, "parameters": settings,
			"inputs": list(tensor), "outputs": list(object{"type": "object", "properties": object{"name": text, "parameters": object{"type": "object"}}})}},
		"InferResponse": object{"type": "object", "required": []any{"model_name", "outputs"}, "properties": object{"model_name": text, "model_version": text,
			"id": text, "outputs": list(tensor)}},
	}
}

func (c *call) described() error { return c.json(c.openAPI) }
