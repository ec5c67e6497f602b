"""Prints what is installed of the libraries that the other scripts here time, as one JSON object of names and versions."""
import importlib
import json
import platform

found = {"python": platform.python_version()}
for module in ("numpy", "scipy", "sklearn", "pyfftw", "threadpoolctl"):
    try:
        found[module] = importlib.import_module(module).__version__
    except ImportError:
        pass
if "threadpoolctl" in found and "scipy" in found:
    # NumPy and SciPy from pip bring a library each, which may differ in what they take this processor for.
    import scipy.linalg.blas
    import threadpoolctl

    pools = [p for p in threadpoolctl.threadpool_info() if p["internal_api"] == "openblas"]
    if pools:
        found["openblas"] = " and ".join(sorted({f"{p['version']} for {p['architecture']}" for p in pools}))
print(json.dumps(found))
