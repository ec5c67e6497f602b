"""What formats.py and arrows.py share: tables of pyarrow against what mercer convert makes of their files."""
import datetime
import decimal
import json
import subprocess
import sys
import uuid

import numpy as np
import pandas as pd

mercer, folder = sys.argv[1], sys.argv[2]
hole = lambda values, every: [None if i % every == 3 else v for i, v in enumerate(values)]


def same(want, got):
    """Fails unless the columns got, lists of JSON's values, are those of the table want."""
    for name in want.column_names:
        values = want[name].to_pylist()
        assert len(values) == len(got[name]), name
        for i, (a, b) in enumerate(zip(values, got[name])):
            if isinstance(a, datetime.time):
                b = b if isinstance(b, datetime.time) else datetime.time.fromisoformat(b)
            elif isinstance(a, (datetime.datetime, datetime.date)):
                a, b = (t.tz_convert("UTC").tz_localize(None) if t.tz else t for t in (pd.Timestamp(a), pd.Timestamp(b)))
            elif isinstance(a, bytes):
                a, b = a.decode(), b or ""
            elif isinstance(a, uuid.UUID):
                a, b = str(a), str(b)
            elif isinstance(a, decimal.Decimal):
                a = float(a)
            elif isinstance(a, bool):
                a = str(a).lower()
            elif name in ("f16", "f32") and a is not None:
                a, b = np.float32(a), np.float32(b)  # as many digits as tell float32 apart
            assert a == b or a in (None, "") and b in (None, ""), (name, i, a, b)


def lines(path):
    rows = [json.loads(line) for line in open(path)]
    return {name: [r[name] for r in rows] for name in rows[0]}


def convert(*args, code=0, stdin=None):
    r = subprocess.run([mercer, "convert", *args], stdin=stdin, capture_output=True, text=True)
    assert r.returncode == code, (args, r.stderr)
    return r.stderr


proven = {}


def same_lines(want, path):
    """The same for a file of JSON lines. Its bytes are compared with those of a file that had the same columns and was found right."""
    text, columns = open(path).read(), tuple(want.column_names)
    if proven.get(columns) != text:
        got = lines(path)
        assert list(got) == want.column_names, list(got)
        same(want, got)
        proven[columns] = text
