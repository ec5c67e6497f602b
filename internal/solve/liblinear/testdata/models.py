"""Writes models.json: models that LIBLINEAR's train writes for small made-up data, and what its
predict says of other rows. Needs liblinear-train and liblinear-predict (2.3) in the path."""
import json, random, subprocess, tempfile, os

random.seed(1)


def rows(n, kind):
    out = []
    for _ in range(n):
        x = [round(random.gauss(0, 1), 4) if random.random() < 0.8 else 0 for _ in range(5)]
        s = x[0] - 2 * x[1] + 0.5 * x[2] + 0.3 * random.gauss(0, 1)
        y = {"two": 1 if s > 0 else -1, "three": 7 if s > 0.8 else 3 if s > -0.8 else 5, "number": round(s, 4)}[kind]
        out.append(f"{y} " + " ".join(f"{j+1}:{v}" for j, v in enumerate(x) if v))
    return "\n".join(out) + "\n"


sets, cases = {}, []
with tempfile.TemporaryDirectory() as d:
    path = lambda name: os.path.join(d, name)
    for kind, solvers in (("two", range(8)), ("three", range(8)), ("number", (11, 12, 13))):
        train, test = rows(60, kind), rows(20, kind)
        sets[kind] = {"train": train, "test": test}
        open(path("train"), "w").write(train)
        open(path("test"), "w").write(test)
        for s in solvers:
            for bias in (-1, 1, 0.5):
                subprocess.run(["liblinear-train", "-q", "-s", str(s), "-B", str(bias), "-e", "0.001", path("train"), path("model")], check=True)
                out = subprocess.run(["liblinear-predict", path("test"), path("model"), path("out")], check=True, capture_output=True, text=True)
                case = {"solver": s, "bias": bias, "set": kind, "model": open(path("model")).read(),
                        "said": out.stdout, "predicted": open(path("out")).read()}
                if s in (0, 6, 7):
                    subprocess.run(["liblinear-predict", "-q", "-b", "1", path("test"), path("model"), path("out")], check=True, capture_output=True)
                    case["probabilities"] = open(path("out")).read()
                cases.append(case)
json.dump({"sets": sets, "cases": cases}, open(os.path.join(os.path.dirname(__file__), "models.json"), "w"), indent=0)
