"""Measures mercer bench and OpenBLAS or FFTW in turn, and prints the ratios.

    cc -O2 blas.c -o /tmp/blas -lopenblas -lm
    cc -O2 fftw.c -o /tmp/fftw -lfftw3f -lm
    go build -o /tmp/mercer ../../../cmd/mercer
    python3 compare.py /tmp/mercer /tmp/blas --threads 1 --rounds 5
    python3 compare.py /tmp/mercer /tmp/fftw --only rfft32,irfft32

OpenBLAS before 0.3.22 does not know recent processors and falls back to SSE3, so its core is
named; OPENBLAS_CORETYPE overrides it.
"""
import argparse, collections, json, os, statistics, subprocess

ap = argparse.ArgumentParser()
ap.add_argument("mercer")
ap.add_argument("peer")
ap.add_argument("--threads", type=int, default=1)
ap.add_argument("--rounds", type=int, default=5)
ap.add_argument("--only", default="sgemm,dgemm,ssyrk,dsyrk,dpotrf,dsyev")
a = ap.parse_args()
os.environ.setdefault("OPENBLAS_CORETYPE", "SAPPHIRERAPIDS")
os.environ["OPENBLAS_NUM_THREADS"] = str(a.threads)

names = a.only.split(",")
transforms = names[0].endswith("fft32")
groups = [names] if transforms else [[name] for name in names]
ours, theirs, share = (collections.defaultdict(list) for _ in range(3))
unit = ""
for _ in range(a.rounds):
    for group in groups:
        out = subprocess.check_output([a.mercer, "bench", "--json", "--threads", str(a.threads), "--only", ",".join(group)])
        for r in json.loads(out)["results"]:
            if r["threads"] == a.threads:
                unit = r["unit"]
                ours[r["name"], r["shape"]].append(r["value"])
                share[r["name"], r["shape"]].append(r["share"])
        for line in subprocess.check_output([a.peer] if transforms else [a.peer, group[0]]).splitlines():
            r = json.loads(line)
            theirs[r["name"], r["shape"]].append(r["value"])
print(f"{unit} at {a.threads} threads, medians of {a.rounds} alternating rounds; the ratio of each round: median (least to most)")
for key in ours:
    if key not in theirs:
        continue
    pairs = [x / y for x, y in zip(ours[key], theirs[key])]
    print(f"{key[0]:8s} {key[1]:16s} mercer {statistics.median(ours[key]):8.1f} ({100 * statistics.median(share[key]):3.0f} % of peak)  "
          f"peer {statistics.median(theirs[key]):8.1f}  ratio {statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})")
