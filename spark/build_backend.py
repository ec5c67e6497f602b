"""Builds wheels with Go (PEP 517): the package, and in it the program, which needs no C library.

MERCER_TARGET=linux-arm64 and the like is the machine of the workers, if it is another than this one.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import stat
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
TAGS = {"linux-amd64": "manylinux2014_x86_64.musllinux_1_1_x86_64", "linux-arm64": "manylinux2014_aarch64.musllinux_1_1_aarch64",
        "darwin-arm64": "macosx_12_0_arm64", "darwin-amd64": "macosx_12_0_x86_64"}


def _setting(name):
    return re.search(rf"^{name} = (.*)$", (HERE / "pyproject.toml").read_text(), re.M)[1].strip('"')


def _program(folder, target):
    system, arch = target.split("-")
    env = {"CGO_ENABLED": "0", **os.environ, "GOOS": system, "GOARCH": arch}
    out = pathlib.Path(folder) / "mercer"
    try:
        subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(out), "./cmd/mercer"], cwd=HERE.parent, env=env, check=True)
    except FileNotFoundError:
        raise SystemExit("mercer-spark: building needs Go (https://go.dev/dl)") from None
    return out.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    target = os.environ.get("MERCER_TARGET") or f"{platform.system().lower()}-{MACHINES.get(platform.machine(), platform.machine())}"
    if target not in TAGS:
        raise SystemExit(f"mercer-spark: no wheel for {target}; known are {', '.join(TAGS)}")
    version, tag = _setting("version"), f"py3-none-{TAGS[target]}"
    info = f"mercer_spark-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {r}\n" for r in re.findall('"(.*?)"', _setting("dependencies")))
    metadata = (f"Metadata-Version: 2.1\nName: mercer-spark\nVersion: {version}\nSummary: {_setting('description')}\n"
                f"Requires-Python: {_setting('requires-python')}\n{requires}Description-Content-Type: text/markdown\n\n")
    tags = "".join(f"Tag: py3-none-{t}\n" for t in TAGS[target].split("."))
    with tempfile.TemporaryDirectory() as folder:
        files = [(f"mercer_spark/{p.name}", p.read_bytes(), 0o644) for p in sorted((HERE / "mercer_spark").iterdir()) if p.suffix == ".py" or p.name == "py.typed"]
        files += [("mercer_spark/mercer", _program(folder, target), 0o755),
                  (f"{info}/METADATA", (metadata + (HERE / "README.md").read_text()).encode(), 0o644),
                  (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: mercer\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644)]
    record = ""
    name = f"mercer_spark-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | mode) << 16
            z.writestr(entry, data)
            record += f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        z.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record + f"{info}/RECORD,,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("mercer-spark: there is no source distribution, as the Go code lies outside of spark/; use a checkout, or a wheel")
