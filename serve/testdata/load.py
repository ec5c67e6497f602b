"""Load on mercer serve beside its peers, in one run:

    python load.py MERCER DATA [--seconds 5] [--peers PYTHON] [--mlserver PYTHON] [--mlflow PYTHON] [--ghz GHZ]

DATA has MNIST (train-images-idx3-ubyte.gz and so on). Needs wrk. PYTHON is that of a virtual environment, or left out with its peer: for peers
scikit-learn, onnxruntime, fastapi, uvicorn with httptools and uvloop, and orjson; for mlserver also mlserver-sklearn, and uvloop before 0.22. GHZ is
that program, for gRPC. The model is sorf with 4,096 features on 784 inputs; the others have scikit-learn's RBFSampler with 4,096 features and a
RidgeClassifier, onnxruntime the export of Mercer's model. Peers run two workers. What MLServer and MLflow are asked Mercer is asked, too.
"""
import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("mercer")
parser.add_argument("data")
parser.add_argument("--seconds", type=int, default=5)
parser.add_argument("--peers", default="")
parser.add_argument("--mlserver", default="")
parser.add_argument("--mlflow", default="")
parser.add_argument("--ghz", default="")
parser.add_argument("--model", default="", help="a model that was trained before")
args = parser.parse_args()
mercer, work = os.path.abspath(args.mercer), tempfile.mkdtemp(prefix="mercer-load-")
images = gzip.open(f"{args.data}/t10k-images-idx3-ubyte.gz").read()[16:]
row = list(images[:784])

PEER = '''
import os, sys
import numpy as np, orjson
from fastapi import FastAPI, Request, Response
app = FastAPI()
which, path, data = os.environ["WHICH"], os.environ["WORK"], os.environ["DATA"]
for n in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[n] = "1"
if which == "onnxruntime":
    import onnxruntime as ort
    o = ort.SessionOptions(); o.intra_op_num_threads = 1
    session = ort.InferenceSession(path + "/m.onnx", o)
    name = session.get_inputs()[0].name
    predict = lambda x: session.run(None, {name: x})[0].ravel().tolist()
else:
    import pickle
    pipe = pickle.load(open(path + "/sk.pickle", "rb"))
    predict = lambda x: pipe.predict(x).tolist()

@app.post("/predict")
async def answer(request: Request):
    x = np.asarray(orjson.loads(await request.body()), dtype=np.float32)
    return Response(orjson.dumps(predict(x)), media_type="application/json")
'''


def wait(port):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on {port}")


def wrk(port, connections, body, path="/predict", seconds=args.seconds):
    script = f"{work}/wrk.lua"
    open(script, "w").write(f'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [==[{body}]==]\n')
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, f"http://127.0.0.1:{port}{path}"],
                         capture_output=True, text=True).stdout
    assert "Non-2xx" not in out, out
    return float(re.search(r"Requests/sec:\s+(\S+)", out).group(1))


def half_load(port, rate, body, path):
    """p50 and p99 of the latency, in ms, of requests that come at a rate, from as many connections as are needed."""
    waits, late = [], [0]
    lock, begin, n, end = threading.Lock(), time.perf_counter(), [0], args.seconds
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    def client():
        c = socket.create_connection(("127.0.0.1", port))
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            with lock:
                n[0] += 1
                at = begin + n[0] / rate
            if at - begin > end:
                return
            pause = at - time.perf_counter()
            if pause > 0:
                time.sleep(pause)
            start = time.perf_counter()
            c.sendall(head)
            got = c.recv(65536)
            while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < int(re.search(rb"(?i)content-length: (\d+)", got).group(1)):
                got += c.recv(65536)
            waits.append(1000 * (time.perf_counter() - start))
            assert got.startswith(b"HTTP/1.1 200"), got

    threads = [threading.Thread(target=client) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    waits.sort()
    return waits[len(waits) // 2], waits[int(0.99 * len(waits))]


def binary(port, rows=1000, batches=None):
    """rows a second by binary batches from two connections."""
    data = b"".join(struct.pack("<784f", *images[784 * i:784 * (i + 1)]) for i in range(rows))
    head = json.dumps({"inputs": [{"name": "input", "shape": [rows, 784], "datatype": "FP32", "parameters": {"binary_data_size": len(data)}}],
                       "outputs": [{"name": "prediction", "parameters": {"binary_data": True}}]}).encode()
    done, end = [0], time.time() + args.seconds

    def client():
        c = http.client.HTTPConnection("127.0.0.1", port)
        while time.time() < end:
            c.request("POST", "/v2/models/mnist/infer", head + data, {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"})
            r = c.getresponse()
            text = r.read()
            assert r.status == 200, text
            done[0] += rows

    start = time.time()
    threads = [threading.Thread(target=client) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return done[0] / (time.time() - start)


# What a row is sent as, by the path.
BODIES = {"/predict": json.dumps([row]).replace(" ", ""), "/invocations": json.dumps({"inputs": [row]}).replace(" ", ""),
          "/v2/models/mnist/infer": json.dumps({"inputs": [{"name": "input", "shape": [1, 784], "datatype": "FP32", "data": row}]}).replace(" ", "")}


def measure(name, port, path="/predict"):
    one = BODIES[path]
    for _ in range(120):  # a server may listen before it has its model
        with contextlib.suppress(OSError):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", one.encode(), {"Content-Type": "application/json"})
            if urllib.request.urlopen(request).status == 200:
                break
        time.sleep(0.5)
    many = wrk(port, 64, one, path)
    single = wrk(port, 1, one, path, seconds=2)
    p50, p99 = half_load(port, min(many / 2, 1500), one, path)
    print(f"{name:14} {path:23} 64 connections {many:9,.0f} rows/s   one connection {single:7,.0f}/s = {1000 / single:.3f} ms   half load p50 {p50:.2f} ms, p99 {p99:.2f} ms", flush=True)


def grpc(name, port):
    """The same by gRPC, with ghz."""
    if not args.ghz:
        return
    data, proto = f"{work}/row.json", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inference.proto")
    with open(data, "w") as f:
        json.dump({"model_name": "mnist", "inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 784], "contents": {"fp32_contents": row}}]}, f)

    def run(*words):
        out = subprocess.run([args.ghz, "--insecure", "--proto", proto, "--call", "inference.GRPCInferenceService/ModelInfer", "-D", data, "-O", "json", *words,
                              f"127.0.0.1:{port}"], capture_output=True, text=True, check=True).stdout
        found = json.loads(out)
        wrong = {k: n for k, n in found["statusCodeDistribution"].items() if k not in ("OK", "Unavailable", "Canceled")}  # which it calls its own end
        assert not wrong, wrong
        return found["rps"], {p["percentage"]: p["latency"] / 1e6 for p in found["latencyDistribution"]}

    many, _ = run("-c", "64", "--connections", "8", "-z", f"{args.seconds}s")
    single, _ = run("-c", "1", "-z", "2s")
    rate = int(min(many / 2, 1500))
    _, took = run("-c", "4", "--rps", str(rate), "-n", str(rate * args.seconds))
    print(f"{name:14} {'gRPC':23} 64 in flight   {many:9,.0f} rows/s   one in flight  {single:7,.0f}/s = {1000 / single:.3f} ms   half load p50 {took[50]:.2f} ms, "
          f"p99 {took[99]:.2f} ms", flush=True)


FIT = """
import gzip, numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
x = np.frombuffer(gzip.open("{data}/t10k-images-idx3-ubyte.gz").read()[16:], dtype=np.uint8).reshape(-1, 784).astype(np.float32)[:6000]
y = np.frombuffer(gzip.open("{data}/t10k-labels-idx1-ubyte.gz").read()[8:], dtype=np.uint8)[:6000].astype(int)
model = make_pipeline(RBFSampler(gamma=5e-7, n_components=4096, random_state=1), RidgeClassifier()).fit(x, y)
"""
SAVE = {"peers": 'import pickle; pickle.dump(model, open("sk.pickle", "wb"))', "mlserver": 'import joblib; joblib.dump(model, "mlserver/m.joblib")',
        "mlflow": 'import mlflow.sklearn as s; s.save_model(model, "mlflow", serialization_format="cloudpickle", pip_requirements=["scikit-learn"])'}
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def fit(python, which):
    """Trains scikit-learn's pipeline for a server."""
    subprocess.run([python, "-W", "ignore", "-c", FIT.format(data=os.path.abspath(args.data)) + SAVE[which]], check=True, cwd=work, stderr=subprocess.DEVNULL)


def start(words, *ports, **env):
    """Starts a server, and waits until it listens."""
    running.append(subprocess.Popen(words, cwd=work, env={**QUIET, **env}, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for port in ports:
        wait(port)
    time.sleep(5)


def stop():
    p = running.pop()
    os.killpg(p.pid, signal.SIGTERM)
    try:
        p.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)


print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
model = args.model or f"{work}/mnist.mercer"
if not args.model:
    subprocess.run([mercer, "train", f"{args.data}/train-images-idx3-ubyte.gz", "--labels", f"{args.data}/train-labels-idx1-ubyte.gz", "-o", model,
                    "--map", "sorf", "--features", "4096", "--learner", "ridge", "--progress", "never"], check=True, stdout=subprocess.DEVNULL)
shutil.copy(model, f"{work}/mnist.mercer") if args.model else None
running = []
try:
    port = 18471
    start([mercer, "serve", f"{work}/mnist.mercer", "--addr", f"127.0.0.1:{port}", "--log", "none"], port)
    for path in BODIES:
        measure("mercer", port, path)
    grpc("mercer", port)
    rates, served = [], []
    command = [mercer, "predict", f"{work}/mnist.mercer", f"{args.data}/train-images-idx3-ubyte.gz", "-o", "/dev/null", "--progress", "never"]
    for _ in range(2):
        served.append(binary(port))
        subprocess.run(command, capture_output=True, check=True)
        began = time.time()
        subprocess.run(command, capture_output=True, check=True)
        rates.append(60_000 / (time.time() - began))
    print(f"binary batches {max(served):,.0f} rows/s; mercer predict on 60,000 rows, loading and reading them included, {max(rates):,.0f} rows/s: {max(served) / max(rates):.0%}", flush=True)
    stop()
    if args.peers:
        open(f"{work}/peer.py", "w").write(PEER)
        subprocess.run([mercer, "export", f"{work}/mnist.mercer", "--target", "onnx", "-o", f"{work}/m.onnx"], check=True, stdout=subprocess.DEVNULL)
        fit(args.peers, "peers")
        for which in ("scikit-learn", "onnxruntime"):
            port += 1
            start([args.peers, "-m", "uvicorn", "peer:app", "--port", str(port), "--workers", "2", "--log-level", "error"], port, WHICH=which, WORK=work, DATA=args.data)
            measure(which, port)
            stop()
    if args.mlserver:
        port += 1
        os.mkdir(f"{work}/mlserver")
        fit(args.mlserver, "mlserver")
        for name, settings in {
            "settings": {"host": "127.0.0.1", "http_port": port, "grpc_port": port + 1, "metrics_port": port + 2, "parallel_workers": 2, "debug": False},
            "model-settings": {"name": "mnist", "implementation": "mlserver_sklearn.SKLearnModel", "parameters": {"uri": "./m.joblib", "version": "1"}}}.items():
            with open(f"{work}/mlserver/{name}.json", "w") as f:
                json.dump(settings, f)
        start([f"{os.path.dirname(args.mlserver)}/mlserver", "start", "mlserver"], port, port + 1)
        measure("MLServer", port, "/v2/models/mnist/infer")
        grpc("MLServer", port + 1)
        stop()
        port += 2
    if args.mlflow:
        port += 1
        fit(args.mlflow, "mlflow")
        start([f"{os.path.dirname(args.mlflow)}/mlflow", "models", "serve", "-m", "mlflow", "-p", str(port), "--env-manager", "local", "--workers", "2"], port,
              PATH=f"{os.path.dirname(args.mlflow)}:{os.environ['PATH']}")
        measure("MLflow", port, "/invocations")
        stop()
    print(f"load average {os.getloadavg()[0]:.1f}")
finally:
    while running:
        stop()
    shutil.rmtree(work)
