"""Writes real.json: models that LIBLINEAR's train makes of real data sets and what its predict says of
their test rows. Usage: real.py DIR, a folder with the data sets as published (a9a/a9a.gz, …).
Needs liblinear-train and liblinear-predict (2.3) in the path."""
import bz2, gzip, hashlib, json, os, subprocess, sys, tempfile

root = sys.argv[1]


def text(name):
    path = os.path.join(root, name)
    return (gzip if name.endswith(".gz") else bz2).open(path, "rt").read()


def letters(rows):
    out = []
    for row in rows:
        label, *values = row.split(",")
        out.append(f"{ord(label) - ord('A') + 1} " + " ".join(f"{j+1}:{v}" for j, v in enumerate(values) if v != "0"))
    return "\n".join(out) + "\n"


def computers(rows):
    out = []
    for row in rows:
        *values, label = row.replace(" ", "").split(",")
        out.append(f"{label} " + " ".join(f"{j+1}:{float(v)/1000:.6g}" for j, v in enumerate(values)))
    return "\n".join(out) + "\n"


letter = text("letter/letter-recognition.data.gz").split()
cpu = [l for l in text("cpusmall/cpu.small.arff.gz").splitlines() if l and l[0] not in "%@"]
sets = {
    "a9a": (text("a9a/a9a.gz"), text("a9a/a9a.t.gz")),
    "w8a": (text("w8a/w8a.gz"),) * 2,
    "ijcnn1": (text("ijcnn1/ijcnn1.trn.bz2"), text("ijcnn1/ijcnn1.tst.bz2")),
    "reuters": (text("reuters_lasvm/reuters.trn.bz2"), text("reuters_lasvm/reuters.tst.bz2")),
    "letter": (letters(letter[:16000]), letters(letter[16000:])),
    "cpusmall": (computers(cpu[:6000]), computers(cpu[6000:])),
}
cases = []
with tempfile.TemporaryDirectory() as d:
    path = lambda name: os.path.join(d, name)
    for name, solver, bias in (("a9a", 0, 1), ("a9a", 1, -1), ("a9a", 4, 1), ("w8a", 2, 1), ("ijcnn1", 5, 1), ("reuters", 3, -1), ("letter", 4, 1), ("letter", 0, 1), ("cpusmall", 11, 1), ("cpusmall", 13, -1)):
        for part, rows in zip(("train", "test"), sets[name]):
            open(path(part), "w").write(rows)
        subprocess.run(["liblinear-train", "-q", "-s", str(solver), "-B", str(bias), path("train"), path("model")], check=True)
        said = subprocess.run(["liblinear-predict", path("test"), path("model"), path("out")], check=True, capture_output=True, text=True).stdout
        predicted = open(path("out")).read()
        cases.append({"set": name, "solver": solver, "model": open(path("model")).read(), "said": said,
                      "sha256": hashlib.sha256(predicted.encode()).hexdigest(), "first": predicted.split()[:20]})
with gzip.GzipFile(os.path.join(os.path.dirname(os.path.abspath(__file__)), "real.json.gz"), "wb", mtime=0) as f:
    f.write(json.dumps(cases).encode())
