"""Nearest rows: recall of the ten nearest against processor time a query, beside faiss and hnswlib, all on one thread.

    pip install faiss-cpu hnswlib scikit-learn
    python3 neighbours.py MERCER FOLDER     # FOLDER has mnist, aloi_colorhist and news20

Three sets: images by Euclidean distance; colour histograms by that of the chi2 kernel, to which the others come by square roots (Hellinger); and
dense embeddings of documents (100 leading components of TF-IDF). Times are processor times: of mercer those of a search of all queries
less those of a search of one, which leaves out the start of a process. Medians of three, in turns. Prints JSON lines.
"""
import bz2
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import faiss
import hnswlib
import numpy as np

MERCER, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
K, QUERIES, ROUNDS = 10, 500, 3
faiss.omp_set_num_threads(1)


def mnist():
    with gzip.open(f"{FOLDER}/mnist/train-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read()[16:], np.uint8).reshape(-1, 784).astype(np.float32) / 255
    return x[:20000], x[30000:30000 + QUERIES], ["--kernel", "linear", "--scale", "none"], None


def histograms():
    x = np.load(f"{FOLDER}/aloi_colorhist/1_ALOI.npz")["X"].astype(np.float32)
    x = x[np.random.default_rng(1).permutation(len(x))]
    return x[QUERIES:], x[:QUERIES], ["--kernel", "chi2", "--scale", "none"], "chi2"


def documents():
    from sklearn.datasets import load_svmlight_file
    from sklearn.decomposition import TruncatedSVD
    with bz2.open(f"{FOLDER}/news20/news20.bz2") as f:
        x, _ = load_svmlight_file(f)
    z = TruncatedSVD(100, random_state=1).fit_transform(x).astype(np.float32)
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-9)
    z = z[np.random.default_rng(1).permutation(len(z))]
    return z[QUERIES:], z[:QUERIES], ["--kernel", "linear", "--scale", "none"], None


def truth(x, q, distance):
    """The ten nearest rows of each query, by brute force."""
    found = []
    for row in q.astype(np.float64):
        if distance == "chi2":
            both = x + row
            d = ((x - row) ** 2 / np.where(both > 0, both, 1)).sum(1)
        else:
            d = ((x - row) ** 2).sum(1)
        found.append(set(np.argpartition(d, K)[:K].tolist()))
    return found


def recall(found, want):
    return round(sum(len(set(f) & w) for f, w in zip(found, want)) / (K * len(want)), 4)


def ours(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([MERCER, *args, "--threads", "1"], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mercer(folder, x, q, flags):
    """Indexes of mercer: exact, by codes and by cells."""
    paths = {name: f"{folder}/{name}.npy" for name in ("x", "q", "one")}
    for name, rows in (("x", x), ("q", q), ("one", q[:1])):
        np.save(paths[name], rows)
    ways = {"": ((),), "--codes signs --bits 256": (("--candidates", "100"), ("--candidates", "200"), ("--candidates", "800")),
            "--cells 256": (("--probes", "4"), ("--probes", "16"))}
    for codes, searches in ways.items():
        index, codes = f"{folder}/index", codes.split()
        _, built = ours("index", paths["x"], "--label", "none", *flags, *codes, "-o", index)
        for candidates in searches:
            def search(candidates=candidates):
                out, all = ours("search", index, paths["q"], "--label", "none", "--k", str(K), "--json", *candidates)
                _, one = ours("search", index, paths["one"], "--label", "none", "--k", str(K), "--json", *candidates)
                return [[n["id"] for n in json.loads(line)["neighbours"]] for line in out.splitlines()], (all - one) / (len(q) - 1)
            yield " ".join(("mercer", *codes, *candidates)), built, search


def timed(search):
    start = time.process_time()
    found = search()
    return found, (time.process_time() - start) / QUERIES


def peers(x, q):
    d = x.shape[1]
    for name, spec in (("flat", "Flat"), ("LSH, 1024 bits", None), ("IVF", "IVF256,Flat"), ("HNSW", "HNSW16,Flat")):
        start = time.process_time()
        index = faiss.IndexLSH(d, 1024) if spec is None else faiss.index_factory(d, spec)
        index.train(x)
        index.add(x)
        built = time.process_time() - start
        for value in {"IVF": (4, 16), "HNSW": (16, 64)}.get(name, (0,)):
            def search(index=index, name=name, value=value):
                if name == "IVF":
                    index.nprobe = value
                if name == "HNSW":
                    index.hnsw.efSearch = value
                return index.search(q, K)[1].tolist()
            yield f"faiss {name}" + (f" {value}" if value else ""), built, lambda search=search: timed(search)
    start = time.process_time()
    graph = hnswlib.Index("l2", d)
    graph.init_index(len(x), ef_construction=200, M=16)
    graph.set_num_threads(1)
    graph.add_items(x)
    built = time.process_time() - start
    for ef in (10, 20, 80):
        def search(ef=ef):
            graph.set_ef(ef)
            return graph.knn_query(q, K)[0].tolist()
        yield f"hnswlib ef {ef}", built, lambda search=search: timed(search)


for load in (mnist, histograms, documents):
    x, q, flags, distance = load()
    want = truth(x, q, distance)
    seen, asked = (np.sqrt(x), np.sqrt(q)) if distance else (x, q)
    with tempfile.TemporaryDirectory() as folder:
        ways = []
        for codes in mercer(folder, x, q, flags):
            name, built, search = codes
            ways.append((name, built, [search() for _ in range(ROUNDS)]))
        for name, built, search in peers(np.ascontiguousarray(seen), np.ascontiguousarray(asked)):
            ways.append((name, built, [search() for _ in range(ROUNDS)]))
    for name, built, runs in ways:
        print(json.dumps({"set": load.__name__, "rows": len(x), "columns": x.shape[1], "way": name, "built_s": round(built, 2),
                          "us_a_query": round(1e6 * statistics.median(t for _, t in runs)), "recall": recall(runs[0][0], want)}), flush=True)
