"""mercer serve at once and four times its capacity, over sockets: python overload.py MERCER [--seconds 10]

Needs wrk, vegeta (github.com/tsenart/vegeta) and two processors: the server has one, the clients the other. The model is the default one of
10,000 rows, requests have 200 rows as JSON records and half a second. Prints how many are answered, and how long that takes a client.
"""
import argparse
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("mercer")
parser.add_argument("--seconds", type=int, default=10)
args = parser.parse_args()
mercer, work = os.path.abspath(args.mercer), tempfile.mkdtemp(prefix="mercer-overload-")
deadline = 500  # ms


def rows(n):
    draw = random.Random(n)
    for _ in range(n):
        x = [round(draw.uniform(-2, 2), 3) for _ in range(8)]
        yield x, round(x[0] * x[1] + abs(x[2]) + (x[3] > 0.5) + draw.gauss(0, 0.3), 3)


names = [f"x{i}" for i in range(8)]
with open(f"{work}/d.csv", "w") as f:
    f.write(",".join(names) + ",y\n")
    f.writelines(",".join(map(str, x)) + f",{y}\n" for x, y in rows(10_000))
subprocess.run([mercer, "train", f"{work}/d.csv", "--label", "y", "-o", f"{work}/m.mercer", "--progress", "never"], check=True, stdout=subprocess.DEVNULL)
body = json.dumps([dict(zip(names, x)) for x, _ in rows(200)])
open(f"{work}/body", "w").write(body)

with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
url = f"http://127.0.0.1:{port}/predict"
open(f"{work}/targets", "w").write(f"POST {url}\nContent-Type: application/json\nX-Request-Timeout: {deadline}ms\n@{work}/body\n")
open(f"{work}/wrk.lua", "w").write(f'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [==[{body}]==]\n')
server = subprocess.Popen(["taskset", "-c", "0", mercer, "serve", f"{work}/m.mercer", "--addr", f"127.0.0.1:{port}", "--threads", "1", "--log", "none"],
                          stdout=subprocess.DEVNULL)


def memory():
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{server.pid}/status").read()).group(1)) >> 10


try:
    for _ in range(100):
        if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
            break
        time.sleep(0.1)
    out = subprocess.run(["taskset", "-c", "1", "wrk", "-t1", "-c16", f"-d{args.seconds}s", "-s", f"{work}/wrk.lua", url], capture_output=True, text=True, check=True).stdout
    capacity = float(re.search(r"Requests/sec:\s+(\S+)", out).group(1))
    print(f"capacity {capacity:.0f} requests/s of 200 rows, {memory()} MiB")
    for times in (1, 4):
        attack = subprocess.run(["taskset", "-c", "1", "vegeta", "attack", "-targets", f"{work}/targets", "-rate", str(round(times * capacity)), "-duration",
                                 f"{args.seconds}s", "-max-workers", "3000"], capture_output=True, check=True).stdout
        told = subprocess.run(["vegeta", "encode", "--to", "json"], input=attack, capture_output=True, check=True).stdout
        waits = {}
        for line in told.splitlines():
            r = json.loads(line)
            waits.setdefault(r["code"], []).append(r["latency"] / 1e6)
        for code, w in sorted(waits.items()):
            w.sort()
            print(f"at {times} times: {code} {len(w) / args.seconds:.0f}/s = {len(w) / args.seconds / capacity:.0%} of the capacity, "
                  f"p50 {w[len(w) // 2]:.1f} ms, p99 {w[len(w) * 99 // 100]:.1f} ms; {memory()} MiB")
finally:
    server.terminate()
    server.wait()
