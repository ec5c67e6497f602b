package serve

// table lists everything that the server answers.
func (s *Server) table() []*route {
	const (
		model   = "/v2/models/{name}"
		version = model + "/versions/{version}"
	)
	rows := &content{"a record, an array of records or rows, JSON lines, CSV with a header, or an Arrow stream", "Rows", []string{"application/json", "application/x-ndjson", "text/csv", arrowStream}}
	tensors := &content{"tensors of rows or of columns", "InferRequest", []string{"application/json", "application/octet-stream"}}
	return []*route{
		{method: "GET", path: "/{$}", name: "page", handle: (*call).page, doc: &operation{text: "A page with the models and a form", answer: "html"}},
		{method: "POST", path: "/predict", name: "predict", handle: (*call).plain, doc: &operation{text: "Predict with the only model", in: rows, answer: "Predictions"}},
		{method: "POST", path: "/models/{name}/predict", name: "predict", handle: (*call).plain, doc: &operation{text: "Predict with a model", in: rows, answer: "Predictions"}},
		{method: "POST", path: "/models/{name}/versions/{version}/predict", name: "predict", handle: (*call).plain, doc: &operation{text: "Predict with a version of a model", in: rows, answer: "Predictions"}},
		{method: "GET", path: "/models/{name}/card", name: "card", handle: (*call).modelCard, doc: &operation{text: "What the model file says of a model", answer: "any"}},
		{method: "GET", path: "/v2/health/live", name: "live", open: true, handle: (*call).live, doc: &operation{text: "Whether the server runs", answer: "any"}},
		{method: "GET", path: "/v2/health/ready", name: "ready", open: true, handle: (*call).ready, doc: &operation{text: "Whether the server takes requests", answer: "any"}},
		{method: "GET", path: "/v2", name: "server", handle: (*call).server, doc: &operation{text: "Name, version and extensions of the server", answer: "any"}},
		{method: "GET", path: "/v2/{$}", name: "server", handle: (*call).server},
		{method: "GET", path: model, name: "model", handle: (*call).modelData, doc: &operation{text: "Inputs and outputs of a model", answer: "any"}},
		{method: "GET", path: version, name: "model", handle: (*call).modelData, doc: &operation{text: "Inputs and outputs of a version of a model", answer: "any"}},
		{method: "GET", path: model + "/ready", name: "model_ready", handle: (*call).modelReady, doc: &operation{text: "Whether a model is served", answer: "any"}},
		{method: "GET", path: version + "/ready", name: "model_ready", handle: (*call).modelReady, doc: &operation{text: "Whether a version of a model is served", answer: "any"}},
		{method: "POST", path: model + "/infer", name: "infer", handle: (*call).v2infer, doc: &operation{text: "Predict tensors (Open Inference Protocol)", in: tensors, answer: "InferResponse"}},
		{method: "POST", path: version + "/infer", name: "infer", handle: (*call).v2infer, doc: &operation{text: "Predict tensors with a version of a model", in: tensors, answer: "InferResponse"}},
		{method: "POST", path: "/v2/repository/index", name: "index", handle: (*call).index, doc: &operation{text: "The models that are served", answer: "any"}},
		{method: "POST", path: "/v2/repository/models/{name}/load", name: "load", control: true, handle: (*call).loadModel, doc: &operation{text: "Load a model of the folder", answer: "any"}},
		{method: "POST", path: "/v2/repository/models/{name}/unload", name: "unload", control: true, handle: (*call).unloadModel, doc: &operation{text: "Serve a model no longer", answer: "any"}},
		{method: "GET", path: "/v1/models", name: "kserve_models", handle: (*call).kserveModels, doc: &operation{text: "The models (KServe v1)", answer: "any"}},
		{method: "GET", path: "/v1/models/{action}", name: "kserve_model", handle: (*call).kserveModel, doc: &operation{text: "Whether a model is served (KServe v1)", answer: "any"}},
		{method: "POST", path: "/v1/models/{action}", name: "kserve_predict", handle: (*call).kserve, doc: &operation{text: "Predict with NAME:predict (KServe v1)",
			in: &content{"the rows or records", "Instances", []string{"application/json"}}, answer: "PredictionList"}},
		{method: "POST", path: "/invocations", name: "mlflow", handle: (*call).mlflow, doc: &operation{text: "Predict with the only model (MLflow)",
			in: &content{"the rows in one of MLflow's forms", "Invocation", []string{"application/json", "text/csv"}}, answer: "PredictionList"}},
		{method: "GET", path: "/ping", name: "ping", open: true, handle: (*call).ping, doc: &operation{text: "Whether the server takes requests (MLflow)", answer: "any"}},
		{method: "GET", path: "/health", name: "ping", open: true, handle: (*call).ping, doc: &operation{text: "Whether the server takes requests (MLflow)", answer: "any"}},
		{method: "GET", path: "/version", name: "version", handle: (*call).versionText, doc: &operation{text: "The version of the server", answer: "text"}},
		{method: "GET", path: "/metrics", name: "metrics", handle: (*call).metrics, doc: &operation{text: "Metrics for Prometheus", answer: "text"}},
		{method: "GET", path: "/openapi.json", name: "openapi", handle: (*call).described, doc: &operation{text: "This description", answer: "any"}},
	}
}
