"""Compiles generated C, has it predict rows, and writes lines of JSON.

    source_c.py CHECKS, a JSON list of {name, model, rows, out}: one line of JSON for each, {name, failed}

A file must compile without a warning, pass its own test, and the tests of other machines whose compilers and emulators are there, if
a check asks for them.
"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wno-overlength-strings", "-Werror"]
OTHERS = [("arm-linux-gnueabihf-gcc", "qemu-arm-static"), ("riscv64-linux-gnu-gcc", "qemu-riscv64-static")]
KINDS = {"float": ctypes.c_float, "double": ctypes.c_double, "int": ctypes.c_int, "signed char": ctypes.c_byte, "const char *": ctypes.c_char_p}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command[0], done.returncode, done.stderr[:500])


def structure(source, name):
    """A struct of the source, as ctypes have it."""
    body = re.search(r"struct \w+_%s \{(.*?)\};" % name, source, re.S).group(1)
    fields = []
    for kind, field, n in re.findall(r"^ *(const char \*|[a-z ]+?) ?(\w+)(?:\[(\d+)\])?;", body, re.M):
        fields.append((field, KINDS[kind] * int(n) if n else KINDS[kind]))
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def texts(library, source, name):
    found = re.search(r"extern const char \*const (\w+_%s)\[(\d+)\];" % name, source)
    return found and [t.decode() for t in (ctypes.c_char_p * int(found.group(2))).in_dll(library, found.group(1))]


def check(c):
    model, source = c["model"], open(c["model"], encoding="utf-8").read()
    run("gcc", *STRICT, "-O1", "-shared", "-fPIC", "-DMERCER_TEST", model, "-o", model + ".so", "-lm")
    tried = []
    for compiler, emulator in OTHERS if c.get("others") else []:
        if shutil.which(compiler) and shutil.which(emulator):
            run(compiler, *STRICT, "-O2", "-static", "-DMERCER_TEST", model, "-o", model + ".other", "-lm")
            run(emulator, model + ".other")
            tried.append(emulator)
    assert len(tried) == 2 or not c.get("others") or not os.environ.get("MERCER_CI"), "a compiler or an emulator is missing"
    library = ctypes.CDLL(model + ".so")
    assert library.main() == 0, "its own rows"
    row, prediction = structure(source, "row"), structure(source, "prediction")
    classes, labels = texts(library, source, "classes"), texts(library, source, "labels")
    predict = getattr(library, re.search(r"int (\w+_predict)\(", source).group(1))
    with open(c["out"], "w") as out:
        for n, values in enumerate(json.load(open(c["rows"]))):
            r, p = row(), prediction()
            for (field, kind), name in zip(row._fields_, c["columns"]):
                v = values[name]
                if kind is ctypes.c_char_p:
                    setattr(r, field, None if v is None else str(v).encode())
                else:
                    setattr(r, field, v if isinstance(v, (int, float)) else float("nan"))
            fault = predict(ctypes.byref(r), ctypes.byref(p))
            assert fault == 0, ("row", n, "fault", fault)
            said = {"scores": list(p.scores)}
            if classes:
                said["label"] = classes[p.label]
            if labels:
                said["labels"] = [name for name, has in zip(labels, p.has) if has]
            if hasattr(p, "probabilities"):
                said["probabilities"] = list(p.probabilities)
            out.write(json.dumps(said) + "\n")
    return {"machines": tried}


for c in json.load(open(sys.argv[1])):
    try:
        result = check(c)
    except Exception as e:  # each check says how it ended
        result = {"failed": f"{type(e).__name__}: {e}"[:800]}
    print(json.dumps({"name": c["name"], **result}), flush=True)
