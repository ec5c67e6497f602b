"""Builds wheels with Go (PEP 517).

cgo needs a C compiler: that of $CC, or of the machine, and otherwise zig's, which pip fetches for the build (ziglang).
MERCER_TARGET=linux-arm64, linux-amd64, windows-amd64 and the like build for another machine, by zig unless $CC is set. For
macOS, build on a Mac.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
FILES = {"linux": "libmercer.so", "darwin": "libmercer.dylib", "windows": "mercer.dll"}
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "ARM64": "arm64", "arm64": "arm64"}


ZIG = {"linux-amd64": "x86_64-linux-gnu.2.17", "linux-arm64": "aarch64-linux-gnu.2.17",
       "windows-amd64": "x86_64-windows-gnu", "windows-arm64": "aarch64-windows-gnu"}


def _host():
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    return system, MACHINES.get(platform.machine(), platform.machine())


def _by_zig():
    """Says whether zig compiles: for another machine, or where there is no compiler."""
    if os.environ.get("CC"):
        return False
    return _target() != _host() or not any(map(shutil.which, ("gcc", "clang", "cc")))


def get_requires_for_build_wheel(config_settings=None):
    return ["ziglang"] if _by_zig() else []


get_requires_for_build_editable = get_requires_for_build_wheel


def _setting(name):
    return re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.M)[1]


def _target():
    if named := os.environ.get("MERCER_TARGET"):
        return tuple(named.split("-"))
    return _host()


def _library(into):
    """Builds the shared library and returns its path."""
    system, arch = _target()
    if system not in FILES:
        raise SystemExit(f"mercer: no library for {system}; known are {', '.join(FILES)}")
    out = pathlib.Path(into) / FILES[system]
    env = {**os.environ, "CGO_ENABLED": "1", "GOOS": system, "GOARCH": arch}
    if _by_zig():
        if (target := ZIG.get(f"{system}-{arch}")) is None:
            raise SystemExit(f"mercer: {system}-{arch} needs a C compiler of its own in $CC; without one, targets are {', '.join(ZIG)}")
        env["CC"] = f'"{sys.executable}" -m ziglang cc -target {target}'
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared", "-o", str(out), "."]
    try:
        subprocess.run(command, cwd=HERE / "native", env=env, check=True)
    except FileNotFoundError:
        raise SystemExit("mercer: building needs Go (https://go.dev/dl)") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"mercer: go build failed for {system}-{arch} with {env.get('CC', 'the C compiler of this machine')}") from None
    out.with_suffix(".h").unlink(missing_ok=True)
    return out


def _tag(library):
    """The platform of the wheel: on Linux by the newest version of glibc that the library asks for."""
    system, arch = _target()
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(arch, arch)
    if system == "linux":
        wanted = [int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", library.read_bytes())]
        if not wanted:
            return f"linux_{name}"
        return f"manylinux_2_{max(17, *wanted)}_{name}"
    if system == "windows":
        return {"amd64": "win_amd64", "arm64": "win_arm64"}[arch]
    version = os.environ.get("MACOSX_DEPLOYMENT_TARGET", "12.0").replace(".", "_")
    return f"macosx_{version}_{'arm64' if arch == 'arm64' else 'x86_64'}"


def _metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {_setting('name')}", f"Version: {_setting('version')}", f"Summary: {_setting('description')}",
             f"Requires-Python: {_setting('requires-python')}", "Requires-Dist: numpy>=1.24", "Provides-Extra: sklearn",
             "Requires-Dist: scikit-learn>=1.6; extra == 'sklearn'", "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / "README.md").read_text()


def _write(directory, contents, tag):
    """Writes a wheel of (name, bytes) and returns its file name."""
    name, version = _setting("name"), _setting("version")
    info = f"{name}-{version}.dist-info"
    contents += [(f"{info}/METADATA", _metadata().encode()),
                 (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: mercer\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode())]
    record = ""
    file = f"{name}-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / file, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in contents:
            entry = zipfile.ZipInfo(path)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            z.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        z.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record + f"{info}/RECORD,,\n")
    return file


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as work:
        library = _library(work)
        files = [p for p in sorted((HERE / "mercer").iterdir()) if p.suffix == ".py" or p.name == "py.typed"]
        contents = [(f"mercer/{p.name}", p.read_bytes()) for p in files] + [(f"mercer/{library.name}", library.read_bytes())]
        contents += [(name, (HERE / name).read_bytes()) for name in ("mercer_numpy.py", "mercer_numpy.pyi")]
        return _write(wheel_directory, contents, _tag(library))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _library(HERE / "mercer")
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return _write(wheel_directory, [("mercer.pth", str(HERE).encode() + b"\n")], tag)


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("mercer: there is no source distribution, as the Go code lies outside of python/; use a checkout, or a wheel")
