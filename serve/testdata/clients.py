"""The clients that people have, against mercer serve: python clients.py URL NAME URL2 NAME2, with a model of the columns of people.csv, and a
regression by the default learner of the same columns, which clients may load and unload.

    pip install tritonclient[http,grpc] pyarrow requests
"""
import io
import sys

import numpy as np
import pyarrow as pa
import requests
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton

url, name, flats_url, flats = sys.argv[1:]
records = [{"size": 95.5, "town": "Bonn", "rooms": 4}, {"size": 31.0, "town": "Ulm", "rooms": 1}, {"size": 180.0, "town": "none such", "rooms": 7}]
wanted = [p["prediction"] for p in requests.post(f"{url}/models/{name}/predict", json=records).json()]
proba = [list(p["probabilities"].values()) for p in requests.post(f"{url}/models/{name}/predict", json=records).json()]
assert len(wanted) == 3, wanted

# tritonclient over HTTP: binary tensors and JSON, by columns.
client = triton.InferenceServerClient(url.removeprefix("http://"))
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(name)
assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
meta = client.get_model_metadata(name)
assert [(i["name"], i["datatype"]) for i in meta["inputs"]] == [("size", "FP64"), ("town", "BYTES"), ("rooms", "FP64")], meta
for binary in (True, False):
    inputs = []
    for column, datatype, values in (("size", "FP64", np.array([r["size"] for r in records])),
                                     ("town", "BYTES", np.array([r["town"] for r in records], dtype=object)),
                                     ("rooms", "INT32", np.array([r["rooms"] for r in records], dtype=np.int32))):
        x = triton.InferInput(column, list(values.shape), datatype)
        x.set_data_from_numpy(values, binary_data=binary)
        inputs.append(x)
    outputs = [triton.InferRequestedOutput("prediction", binary_data=binary), triton.InferRequestedOutput("probabilities", binary_data=binary)]
    for asked in (outputs, None):
        answer = client.infer(name, inputs, outputs=asked, request_id="7")
        got = [v.decode() if isinstance(v, bytes) else v for v in answer.as_numpy("prediction").tolist()]
        assert got == wanted, (got, wanted)
        assert np.array_equal(answer.as_numpy("probabilities"), np.array(proba))
        assert answer.get_response()["id"] == "7"
try:
    client.infer("none", inputs)
    raise SystemExit("a model that is not there answers")
except Exception as e:
    assert 'no model "none"' in str(e), e
index = client.get_model_repository_index()
assert {m["name"] for m in index} >= {name}, index

# tritonclient over gRPC, on the same port.
client = triton_grpc.InferenceServerClient(url.removeprefix("http://"))
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(name) and not client.is_model_ready("none")
assert client.get_server_metadata().name == "mercer"
assert [(i.name, i.datatype, list(i.shape)) for i in client.get_model_metadata(name).inputs][1] == ("town", "BYTES", [-1])
inputs = []
for column, datatype, values in (("size", "FP64", np.array([r["size"] for r in records])),
                                 ("town", "BYTES", np.array([r["town"] for r in records], dtype=object)),
                                 ("rooms", "INT64", np.array([r["rooms"] for r in records]))):
    x = triton_grpc.InferInput(column, list(values.shape), datatype)
    x.set_data_from_numpy(values)
    inputs.append(x)
for asked in ([triton_grpc.InferRequestedOutput("prediction"), triton_grpc.InferRequestedOutput("probabilities")], None):
    answer = client.infer(name, inputs, outputs=asked, request_id="7", client_timeout=10)
    assert [v.decode() for v in answer.as_numpy("prediction").tolist()] == wanted
    assert np.array_equal(answer.as_numpy("probabilities"), np.array(proba))

# Arrow: pyarrow writes the rows and reads the answer, dictionaries included.
table = pa.Table.from_pylist(records)
table = table.set_column(1, "town", table["town"].dictionary_encode())
for media, write, read in (("stream", pa.ipc.new_stream, pa.ipc.open_stream), ("file", pa.ipc.new_file, pa.ipc.open_file)):
    body = io.BytesIO()
    with write(body, table.schema) as out:
        out.write_table(table)
    answer = requests.post(f"{url}/models/{name}/predict", data=body.getvalue(), headers={"Content-Type": f"application/vnd.apache.arrow.{media}"})
    got = read(io.BytesIO(answer.content)).read_all().to_pydict()
    assert got["prediction"] == wanted and np.array_equal(np.array([got[f"p_{c}"] for c in ("cheap", "dear", "fair")]).T, np.array(proba)), got
# Intervals by a parameter or by the names of outputs, packed bodies, and the repository, over HTTP and gRPC.
one = requests.post(f"{flats_url}/predict?interval=0.8", json=records).json()
usual = requests.post(f"{flats_url}/predict?interval", json=records).json()
assert all(u["lower"] < o["lower"] < o["prediction"] < o["upper"] < u["upper"] for o, u in zip(one, usual)), (one, usual)
for module, packed in ((triton, {"request_compression_algorithm": "gzip", "response_compression_algorithm": "gzip"}), (triton, {"request_compression_algorithm": "deflate"}),
                       (triton_grpc, {"compression_algorithm": "gzip"})):
    client = module.InferenceServerClient(flats_url.removeprefix("http://"))
    inputs = []
    for column, datatype, values in (("size", "FP64", np.array([r["size"] for r in records])), ("town", "BYTES", np.array([r["town"] for r in records], dtype=object)),
                                     ("rooms", "INT32", np.array([r["rooms"] for r in records], dtype=np.int32))):
        inputs.append(module.InferInput(column, [3], datatype))
        inputs[-1].set_data_from_numpy(values)
    ends = [module.InferRequestedOutput("lower"), module.InferRequestedOutput("upper")]
    for asked, more, want in ((None, {"interval": 0.8}, one), (ends, {"interval": "0.8"}, one), (ends, {}, usual)):
        answer = client.infer(flats, inputs, outputs=asked, parameters=more, **packed)
        for end in ("lower", "upper"):
            assert np.array_equal(answer.as_numpy(end).ravel(), np.array([w[end] for w in want], dtype=np.float32)), (end, answer.as_numpy(end), want)

    def states():
        index = client.get_model_repository_index()
        return [m["state"] if isinstance(m, dict) else m.state for m in (index if isinstance(index, list) else index.models)]

    assert states() == ["READY"]
    client.unload_model(flats)
    assert states() == ["UNAVAILABLE"] and not client.is_model_ready(flats)
    client.load_model(flats)
    assert states() == ["READY"] and client.is_model_ready(flats)
print("clients: all answers are the same")
