"""Writes categories.parquet: a label that pandas declares categorical, whose values are numbers; and arrow.parquet, where only
pyarrow notes it, as a dictionary. Needs pandas and pyarrow."""
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

label = [1 + i % 6 for i in range(24)]
pd.DataFrame({"x": [float(i) for i in range(24)], "y": pd.Categorical(label)}).to_parquet("categories.parquet", compression="none")
texts = pa.array([str(v) for v in label]).dictionary_encode()
pq.write_table(pa.table({"x": [float(i) for i in range(24)], "y": texts}), "arrow.parquet", compression="none")
