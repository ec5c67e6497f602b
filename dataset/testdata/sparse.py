"""Writes sparse.json: npz archives as SciPy writes them, base64, of the 3×4 matrix [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]]."""
import base64, io, json
import numpy as np
import scipy.sparse as sp

x = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]])
out = {}


def save(name, write):
    b = io.BytesIO()
    write(b)
    out[name] = base64.b64encode(b.getvalue()).decode()


for dtype in ["<f4", "<f8", "<i8", "|u1"]:
    for compressed in [False, True]:
        m = sp.csr_matrix(x.astype(dtype))
        save(f"{dtype} {'deflated' if compressed else 'stored'}", lambda b: sp.save_npz(b, m, compressed=compressed))
long = sp.csr_matrix(x.astype("<f4"))
long.indices, long.indptr = long.indices.astype("<i8"), long.indptr.astype("<i8")
save("<f4 of long indices", lambda b: sp.save_npz(b, long))

save("by columns", lambda b: sp.save_npz(b, sp.csc_matrix(x)))
save("not sorted", lambda b: sp.save_npz(b, sp.csr_matrix((np.array([2.0, 1.0]), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))))
save("twice", lambda b: sp.save_npz(b, sp.csr_matrix((np.array([2.0, 1.0]), np.array([3, 3]), np.array([0, 2])), shape=(1, 4))))
save("a dense array", lambda b: np.savez(b, x=x))
save("complex", lambda b: sp.save_npz(b, sp.csr_matrix(x.astype("<c8"))))
json.dump(out, open("sparse.json", "w"), indent=1)
