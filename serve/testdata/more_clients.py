"""KServe's and MLflow's clients against mercer serve: python more_clients.py URL NAME URL2 NAME2, with the models of clients.py.

    pip install kserve mlflow-skinny pandas scipy requests

In a process of their own: kserve and tritonclient both register the messages of the Open Inference Protocol.
"""
import asyncio
import json
import sys

import numpy as np
import pandas as pd
import requests
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
from mlflow.pyfunc.scoring_server.client import ScoringServerClient

url, name, flats_url, flats = sys.argv[1:]
records = [{"size": 95.5, "town": "Bonn", "rooms": 4}, {"size": 31.0, "town": "Ulm", "rooms": 1}, {"size": 180.0, "town": "none such", "rooms": 7}]
answers = requests.post(f"{url}/models/{name}/predict", json=records).json()
wanted, proba = [p["prediction"] for p in answers], [list(p["probabilities"].values()) for p in answers]


def same(outputs):
    got = {o.name: o.as_numpy() for o in outputs}
    assert [v.decode() if isinstance(v, bytes) else v for v in got["prediction"].tolist()] == wanted, got
    assert np.array_equal(np.reshape(got["probabilities"], (3, -1)), np.array(proba)), got


def tensors():
    inputs = []
    for column, datatype, values in (("size", "FP64", np.array([r["size"] for r in records])),
                                     ("town", "BYTES", np.array([r["town"] for r in records], dtype=object)),
                                     ("rooms", "INT64", np.array([r["rooms"] for r in records]))):
        inputs.append(InferInput(column, [3], datatype))
        inputs[-1].set_data_from_numpy(values, binary_data=False)
    return inputs


# KServe's client, by its three protocols, of which gRPC changes what it sends.
async def kserve():
    for protocol in ("v1", "v2"):
        async with InferenceRESTClient(RESTConfig(protocol=protocol)) as client:
            assert await client.is_server_live(url) and await client.is_model_ready(url, name)
            if protocol == "v1":
                assert (await client.infer(url, {"instances": records}, model_name=name))["predictions"] == wanted
                continue
            assert await client.is_server_ready(url)
            same((await client.infer(url, InferRequest(model_name=name, infer_inputs=tensors()), model_name=name)).outputs)
    client = InferenceGRPCClient(url.removeprefix("http://"))
    assert await client.is_server_ready() and await client.is_model_ready(name)
    same((await client.infer(InferRequest(model_name=name, infer_inputs=tensors()))).outputs)
    await client.close()

    # Intervals.
    want = requests.post(f"{flats_url}/predict?interval=0.8", json=records).json()
    async with InferenceRESTClient(RESTConfig(protocol="v1")) as client:
        assert (await client.infer(flats_url, {"instances": records, "parameters": {"interval": 0.8}}, model_name=flats))["predictions"] == want
    async with InferenceRESTClient(RESTConfig(protocol="v2")) as client:
        answers = [await client.infer(flats_url, InferRequest(model_name=flats, infer_inputs=tensors(), parameters={"interval": "0.8"}), model_name=flats)]
    client = InferenceGRPCClient(flats_url.removeprefix("http://"))
    answers.append(await client.infer(InferRequest(model_name=flats, infer_inputs=tensors(), parameters={"interval": "0.8"})))
    await client.close()
    for answer in answers:
        got = {o.name: o.as_numpy().ravel() for o in answer.outputs}
        assert all(np.array_equal(got[k], np.array([w[k] for w in want], dtype=np.float32)) for k in ("prediction", "lower", "upper")), (got, want)

asyncio.run(kserve())

# MLflow's client of its scoring protocol, and the forms that it does not send.
if len(requests.get(f"{url}/v1/models").json()["models"]) == 1:
    client = ScoringServerClient("127.0.0.1", int(url.rsplit(":", 1)[1]))
    client.wait_server_ready(timeout=10)
    assert client.get_version()
    got = client.invoke(pd.DataFrame(records)).get_predictions()
    assert got[got.columns[0]].tolist() == wanted, got
    rows = [[r[c] for c in ("size", "town", "rooms")] for r in records]
    split = {"dataframe_split": {"columns": ["size", "town", "rooms"], "data": rows}}
    got = requests.post(f"{url}/invocations", data=json.dumps(split), headers={"Content-Type": "application/json"}).json()["predictions"]
    assert got == wanted, got
client = ScoringServerClient("127.0.0.1", int(flats_url.rsplit(":", 1)[1]))
got = client.invoke(pd.DataFrame(records), params={"interval": 0.8}).get_predictions()
assert got.to_dict("records") == requests.post(f"{flats_url}/predict?interval=0.8", json=records).json(), got
print("more clients: all answers are the same")
