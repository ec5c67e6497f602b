module wasm

go 1.26
