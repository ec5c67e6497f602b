"""Faults that mercer serve must stand: python faults.py MERCER [--idle 10000] [--reloads 200] [--kills 20]

Needs nothing but Python. It trains a small model with MERCER and starts servers of its own on free ports. Each fault ends with a
check that requests are answered as before.

What it cannot do is set the clock of the machine. Deadlines are measured by the monotonic clock, which the clock of the wall
does not touch; what depends on the wall are times of files, which jump here by years.
"""
import argparse
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("mercer")
parser.add_argument("--idle", type=int, default=10_000)
parser.add_argument("--reloads", type=int, default=200)
parser.add_argument("--kills", type=int, default=20)
args = parser.parse_args()
mercer = os.path.abspath(args.mercer)
work = tempfile.mkdtemp(prefix="mercer-faults-")
rows = ["size,town,label"] + [f"{i % 170},{'Bonn' if i % 3 else 'Kiel'},{'dear' if i % 170 > 90 else 'cheap'}" for i in range(600)]
open(f"{work}/rows.csv", "w").write("\n".join(rows) + "\n")
for n, features in (("a", 64), ("b", 2048)):
    subprocess.run([mercer, "train", f"{work}/rows.csv", "-o", f"{work}/{n}.model", "--learner", "logistic", "--features", str(features), "--progress", "never"],
                   check=True, stdout=subprocess.DEVNULL)
a, b = (open(f"{work}/{n}.model", "rb").read() for n in "ab")


class Server:
    """A server of one file of its own."""

    def __init__(self, *flags, stderr=None, name="m"):
        self.folder = tempfile.mkdtemp(dir=work)
        self.file = f"{self.folder}/{name}.mercer"
        open(self.file, "wb").write(a)
        self.flags, self.stderr = flags, stderr
        self.start()

    def start(self):
        self.p = subprocess.Popen([mercer, "serve", self.file, "--addr", "127.0.0.1:0", "--watch", "20ms", *self.flags], stdout=subprocess.PIPE,
                                  stderr=self.stderr or subprocess.DEVNULL, text=True)
        self.port = int(self.p.stdout.readline().rsplit(":", 1)[1])

    def ask(self, body='{"size": 150, "town": "Bonn"}', path="/predict", timeout=10):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        c.request("POST" if body else "GET", path, body)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text

    def works(self, what):
        status, text = self.ask()
        assert status == 200 and json.loads(text)["prediction"] == "dear", (what, status, text)

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)", self.ask(None, "/metrics")[1], re.M).group(1))

    def replace(self, data):
        """puts a whole file in the place of the model's, as mercer and cp --remove-destination do."""
        open(f"{self.folder}/.next", "wb").write(data)
        os.rename(f"{self.folder}/.next", self.file)

    def until(self, what, condition):
        end = time.time() + 20
        while not condition():
            assert time.time() < end, what
            time.sleep(0.01)

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        code = self.p.wait(60)
        assert code == 0, code


def fault(f):
    start = time.time()
    said = f()
    print(f"{f.__doc__}: {said or 'all is well'} ({time.time() - start:.1f} s)", flush=True)


def half_replaced():
    """a file half replaced in place"""
    s = Server()
    for cut in (0, 10, 1000, len(b) // 2, len(b) - 1):
        before = s.metric("mercer_model_load_failures_total")
        open(s.file, "wb").write(b[:cut])
        s.until("the damaged file is not noticed", lambda: s.metric("mercer_model_load_failures_total") > before)
        s.works(f"{cut} bytes")
        loads = s.metric("mercer_model_loads_total")
        open(s.file, "wb").write(b if cut % 2 else a)
        s.until("the whole file is not loaded", lambda: s.metric("mercer_model_loads_total") > loads)
        s.works("whole again")
    os.remove(s.file)
    time.sleep(0.1)
    s.works("the file is gone")
    s.end()


def reloads():
    """reloads under load, which end and give back their memory"""
    s = Server("--log", "none")
    stop, failed, done = threading.Event(), [], [0]

    def load():
        while not stop.is_set():
            try:
                s.works("reload")
                done[0] += 1
            except Exception as e:
                failed.append(e)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for t in threads:
        t.start()
    memory = []
    for i in range(args.reloads):
        loads = s.metric("mercer_model_loads_total")
        s.replace(b if i % 2 else a)
        s.until("the file is not loaded", lambda: s.metric("mercer_model_loads_total") > loads)
        memory.append(s.metric("go_memstats_heap_inuse_bytes"))
    stop.set()
    for t in threads:
        t.join()
    assert not failed, failed[0]
    early, late = min(memory[10:args.reloads // 2]), min(memory[args.reloads // 2:])
    assert late < 1.5 * early + (8 << 20), (early, late)
    s.end()
    return f"{args.reloads} reloads, {done[0]} requests answered meanwhile, heap {early / 2**20:.1f} MiB before and {late / 2**20:.1f} MiB after"


def kills():
    """the server killed while it reloads"""
    s = Server("--log", "none")
    for i in range(args.kills):
        s.replace(b if i % 2 else a)
        time.sleep(0.04 * random.random())
        if i % 2:
            s.p.kill()
            s.p.wait()
        else:
            s.end()
        assert open(s.file, "rb").read() in (a, b), "the file of the model has changed"
        s.start()
        s.works("after a kill")
    s.end()
    return f"{args.kills} times, half of them by SIGKILL"


def nothing_lost():
    """SIGTERM loses nothing that was accepted"""
    answered, cut = 0, 0
    for _ in range(5):
        s = Server("--log", "none", "--drain", "300ms")
        s.ask(None, "/ping")  # so that somebody waits to hear of the end
        results = []

        def load():
            c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=20)
            while True:
                try:
                    c.request("POST", "/predict", '{"size": 150, "town": "Bonn"}')
                except OSError:
                    return  # not accepted
                try:
                    r = c.getresponse()
                    r.read()
                    results.append(r.status)
                    if r.getheader("Connection") == "close":
                        return
                except http.client.RemoteDisconnected:
                    return  # closed while idle, before the request came
                except Exception as e:
                    results.append(repr(e))
                    return

        threads = [threading.Thread(target=load) for _ in range(8)]
        for t in threads:
            t.start()
        time.sleep(0.3)
        s.end()
        for t in threads:
            t.join()
        assert set(results) == {200}, set(results)
        answered += len(results)
    return f"{answered} requests around 5 ends, all answered"


def cut_connections():
    """connections cut at any byte"""
    s = Server("--log", "none")
    goroutines = s.metric("go_goroutines")
    body = b'{"size": 150, "town": "Bonn"}'
    request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    for i in range(len(request) + 1):
        for reset in (False, True):
            c = socket.create_connection(("127.0.0.1", s.port))
            if reset:
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.sendall(request[:i])
            c.close()
    for _ in range(200):  # in the middle of an answer of some size
        c = socket.create_connection(("127.0.0.1", s.port))
        many = b"[" + b",".join([body] * 2000) + b"]"
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(many) + many)
        c.close()
    s.works("after cuts")
    s.until("goroutines stay", lambda: s.metric("go_goroutines") <= goroutines + 10)
    s.end()
    return f"{2 * len(request) + 202} connections"


def full_disk():
    """no room for the log"""
    with open("/dev/full", "w") as full:
        s = Server(stderr=full)
        for _ in range(200):
            s.works("log")
        s.end()


def clock():
    """times of files that jump by years"""
    s = Server("--log", "none")
    for i, years in enumerate((30, -30, 5, -5, 0)):
        loads = s.metric("mercer_model_loads_total")
        open(f"{s.folder}/.next", "wb").write(b if i % 2 else a)
        then = time.time() + years * 365 * 86400
        os.utime(f"{s.folder}/.next", (then, then))
        os.rename(f"{s.folder}/.next", s.file)
        s.until(f"a file {years} years away is not loaded", lambda: s.metric("mercer_model_loads_total") > loads)
        s.works("clock")
    s.end()


def idle():
    """idle connections"""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n = min(args.idle, hard - 200) if hard != resource.RLIM_INFINITY else args.idle
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(n + 200, hard) if hard != resource.RLIM_INFINITY else n + 200, hard))
    s = Server("--log", "none")
    before = s.metric("process_resident_memory_bytes")
    held = []
    for i in range(n):
        c = socket.create_connection(("127.0.0.1", s.port))
        if i % 2:  # half have asked once, half have said nothing
            c.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
        held.append(c)
    start = time.time()
    s.works("idle")
    took = time.time() - start
    with_them = s.metric("process_resident_memory_bytes")
    for c in held:
        c.close()
    s.until("connections stay", lambda: s.metric("process_open_fds") < 50)
    s.end()
    assert took < 2, took
    return f"{n} of them, {(with_them - before) / 2**20:.0f} MiB more, a request takes {1000 * took:.1f} ms"


def slow():
    """slow writers are cut"""
    s = Server("--log", "none", "--timeout", "1s")
    c = socket.create_connection(("127.0.0.1", s.port))
    start = time.time()
    try:
        for byte in b"POST /predict HTTP/1.1\r\nHost: " + b"x" * 1000:
            c.sendall(bytes([byte]))
            time.sleep(0.1)
            if time.time() - start > 20:
                raise SystemExit("a client that sends a byte each tenth of a second is not cut")
    except OSError:
        pass
    s.works("slow")
    s.end()
    return f"after {time.time() - start:.1f} s"


try:
    for f in (half_replaced, reloads, kills, nothing_lost, cut_connections, full_disk, clock, idle, slow):
        fault(f)
finally:
    shutil.rmtree(work)
