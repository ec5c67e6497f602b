"""Writes wavelets.json: φ and ψ of Daubechies's wavelets of two vanishing moments by PyWavelets 1.8.0 (its name for them is db2).

    python3 wavelets.py > wavelets.json
"""
import json

import pywt

LEVEL = 14
phi, psi, _ = pywt.Wavelet("db2").wavefun(level=LEVEL)
at = range(1 << (LEVEL - 4), 3 << LEVEL, 1 << (LEVEL - 4))
print(json.dumps({"t": [i / (1 << LEVEL) for i in at], "phi": [round(phi[i], 6) for i in at], "psi": [round(psi[i], 6) for i in at]}))
