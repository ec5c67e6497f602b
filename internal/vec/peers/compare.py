"""Measures mercer bench and OpenBLAS in turn, and prints the ratios of the medians.

    cc -O2 blas.c -o /tmp/blas -lopenblas -lm
    go build -o /tmp/mercer ../../../cmd/mercer
    python3 compare.py /tmp/mercer /tmp/blas --threads 1 --rounds 5

OpenBLAS before 0.3.22 does not know recent processors and falls back to SSE3, so its core is
named; OPENBLAS_CORETYPE overrides it.
"""
import argparse, collections, json, os, statistics, subprocess

ap = argparse.ArgumentParser()
ap.add_argument("mercer")
ap.add_argument("blas")
ap.add_argument("--threads", type=int, default=1)
ap.add_argument("--rounds", type=int, default=5)
ap.add_argument("--only", default="sgemm,dgemm,ssyrk,dsyrk,dpotrf")
a = ap.parse_args()
os.environ.setdefault("OPENBLAS_CORETYPE", "SAPPHIRERAPIDS")
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

ours, theirs, share = (collections.defaultdict(list) for _ in range(3))
for _ in range(a.rounds):
    for name in a.only.split(","):
        out = subprocess.check_output([a.mercer, "bench", "--json", "--threads", str(a.threads), "--only", name])
        for r in json.loads(out)["results"]:
            if r["threads"] == a.threads:
                ours[name, r["shape"]].append(r["value"])
                share[name, r["shape"]].append(r["share"])
        for line in subprocess.check_output([a.blas, name]).splitlines():
            r = json.loads(line)
            theirs[name, r["shape"]].append(r["value"])
print(f"GFLOP/s at {a.threads} threads, medians of {a.rounds} alternating rounds")
for key in ours:
    o, t = statistics.median(ours[key]), statistics.median(theirs[key])
    pairs = [x / y for x, y in zip(ours[key], theirs[key])]
    print(f"{key[0]:8s} {key[1]:16s} mercer {o:6.1f} ({100 * statistics.median(share[key]):3.0f} % of peak)  OpenBLAS {t:6.1f}  ratio {statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})")
