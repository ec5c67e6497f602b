"""Runs exported models in SQLite, DuckDB and PostgreSQL and compares them with what mercer predict said.

    sql_check.py CHECKS [ARGUMENTS OF psql], a JSON list of {name, target, model, data, told, view, table}: one line of JSON for
    each, {name, error, rows, seconds}. Rows have their number, "row number", as a further column.
"""
import csv
import datetime
import json
import sqlite3
import subprocess
import sys
import time

MISSING = {"", "?", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "\\n", "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(v):
    if v is None:
        return "NULL"
    return repr(v) if isinstance(v, float) else "'" + v.replace("'", "''") + "'"


def typed(rows, about, texts):
    """The names, types and cells of a table as a database would have it; texts: all texts, as in the file."""
    kinds = {c["name"]: c for c in about.get("columns") or ()}
    na = set(about.get("na") or ())
    columns = []
    for name in rows[0]:
        if texts:
            columns.append((name, "TEXT", [r[name] for r in rows]))
            continue
        c, cells = kinds.get(name), [r[name] for r in rows]
        coding = (c or {}).get("coding") or {}
        gone = [v.strip().lower() in MISSING or v.strip() in na for v in cells]
        if not c:
            columns.append((name, "TEXT", cells))
        elif coding.get("kind") == "date":
            form = "%Y-%m-%d %H:%M:%S" if coding.get("hours") else "%d %B %Y"
            columns.append((name, "TIMESTAMP", [None if g else datetime.datetime.strptime(v, form).isoformat(" ") for v, g in zip(cells, gone)]))
        elif "categories" in c or coding.get("kind") in ("ordinal", "hashed"):
            columns.append((name, "TEXT", [None if v == "" else v for v in cells]))
        else:
            columns.append((name, "DOUBLE PRECISION", [None if g else float(v.replace(",", "")) for v, g in zip(cells, gone)]))
    columns.append(("row number", "INTEGER", [str(i) for i in range(len(rows))]))
    return columns


def loading(table, columns):
    yield f"CREATE TABLE {quoted(table)} ({', '.join(quoted(n) + ' ' + kind for n, kind, _ in columns)});"
    lines = list(zip(*(cells for _, _, cells in columns)))
    for i in range(0, len(lines), 500):
        yield f"INSERT INTO {quoted(table)} VALUES " + ",".join("(" + ",".join(map(literal, line)) + ")" for line in lines[i:i + 500]) + ";"


class SQLite:
    def __init__(self, check):
        self.db = sqlite3.connect(":memory:")

    def run(self, script):
        self.db.executescript(script)

    def rows(self, query):
        cursor = self.db.execute(query)
        return [dict(zip([d[0] for d in cursor.description], row)) for row in cursor]


class DuckDB:
    def __init__(self, check):
        import duckdb
        self.db = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": ""})

    def run(self, script):
        self.db.execute(script)

    def rows(self, query):
        cursor = self.db.execute(query)
        return [dict(zip([d[0] for d in cursor.description], row)) for row in cursor.fetchall()]


class Postgres:
    def __init__(self, check):
        self.psql = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *sys.argv[2:]]
        self.waiting = "SET client_min_messages = warning; DROP SCHEMA IF EXISTS check_ CASCADE; CREATE SCHEMA check_;"

    def run(self, script):
        self.waiting += "SET search_path = check_;\n" + script

    def told(self):
        done = subprocess.run(self.psql, input=self.waiting, text=True, capture_output=True)
        self.waiting = ""
        if done.returncode:
            raise RuntimeError(done.stderr[:600])
        return done.stdout

    def rows(self, query):
        self.run(f"SELECT to_json(r) FROM ({query}) r;")
        return [json.loads(line) for line in self.told().splitlines() if line]


def flat(v):
    return v if isinstance(v, list) else [v]


def check(c):
    db = {"sqlite": SQLite, "duckdb": DuckDB, "postgres": Postgres}[c["target"]](c)
    script = open(c["model"]).read()
    want = [json.loads(line) for line in open(c["told"])]
    rows = list(csv.DictReader(open(c["data"])))
    assert len(rows) == len(want), (len(rows), len(want))
    # Scores that are all next to 0 are differences of numbers that mercer keeps in float32.
    largest = max(1e-3, *(abs(v) for w in want for v in flat(w["scores"] if "scores" in w else w["prediction"])))
    if c.get("rows"):
        rows, want = rows[:c["rows"]], want[:c["rows"]]
    line = next(line for line in script.splitlines() if "_about\" VALUES ('mercer', '" in line)
    about = json.loads(line.split("('mercer', '", 1)[1][:-3].replace("''", "'"))
    db.run("\n".join(loading(c["table"], typed(rows, about, c.get("texts")))))
    db.run(script)
    start = time.perf_counter()
    got = sorted(db.rows(f"SELECT * FROM {quoted(c['view'])}"), key=lambda r: r["row number"])
    seconds = time.perf_counter() - start
    assert len(got) == len(want), ("rows", len(got), len(want))
    held = json.loads(db.rows(f"SELECT value FROM {quoted(c['view'] + '_about')} WHERE key = 'mercer'")[0]["value"])
    assert held == about, "the description"

    def output(r, name):
        v = r["output_" + name] if "output_" + name in r else r[name]
        return json.loads(v) if isinstance(v, str) and name != "prediction" else v

    def numbers(r):
        v = output(r, name)
        return flat(json.loads(v) if isinstance(v, str) else v)

    classes, labels = about.get("classes"), about.get("labels")
    name = "scores" if classes or labels else "prediction"
    scores = [flat(w["scores"] if "scores" in w else w["prediction"]) for w in want]
    mine = [numbers(r) for r in got]
    error = max(abs(a - b) for s, m in zip(scores, mine) for a, b in zip(s, m, strict=True)) / largest
    assert error < 1e-4, ("scores", error)
    if classes:
        for i, (w, r, s) in enumerate(zip(want, got, mine)):
            by = sorted(output(r, "probabilities") if about["probabilities"] in ("platt", "isotonic") else s + [-v for v in s] * (len(s) == 1))
            assert output(r, "prediction") == w["prediction"] or by[-1] - by[-2] < 1e-5 * max(1, largest), ("label", i, w, output(r, "prediction"))
    if labels:
        for w, r, s in zip(want, got, mine):
            assert json.loads(output(r, "prediction")) == w["prediction"] or min(map(abs, s)) < 1e-5 * largest, ("labels", w, r)
    if "probabilities" in got[0]:
        for w, r in zip(want, got):
            p = [w["probabilities"][c] for c in classes or labels]
            assert max(abs(a - b) for a, b in zip(p, output(r, "probabilities"), strict=True)) < 1e-4, ("probabilities", p, r)
    one = db.rows(f"SELECT * FROM {quoted(c['view'])} WHERE {quoted('row number')} = 3")
    assert len(one) == 1 and one[0].keys() == got[3].keys(), "a row by itself"
    assert all(abs(a - b) <= 1e-9 * largest for a, b in zip(numbers(one[0]), mine[3])), "a row by itself"
    return {"error": error, "rows": len(rows), "seconds": seconds}


for c in json.load(open(sys.argv[1])):
    try:
        result = check(c)
    except Exception as e:  # each check says how it ended
        result = {"failed": f"{type(e).__name__}: {e}"[:600]}
    print(json.dumps({"name": c["name"] + " in " + c["target"], **result}), flush=True)
