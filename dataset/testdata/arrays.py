"""Writes arrays.json: NPY files as NumPy writes them, base64, of the 3×2 array [[0, 1], [2, 3], [100, 5]]."""
import base64, io, json
import numpy as np

out = {}
for dtype in ["<f2", "<f4", "<f8", ">f4", ">f8", "|i1", "<i2", ">i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"]:
    for order in "CF":
        b = io.BytesIO()
        np.save(b, np.array([[0, 1], [2, 3], [100, 5]], dtype=dtype, order=order))
        out[dtype + " " + order] = base64.b64encode(b.getvalue()).decode()
json.dump(out, open("arrays.json", "w"), indent=1)
