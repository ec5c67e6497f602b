// Runs exported models by onnxruntime-node and compares them with what mercer predict said, as onnx_check.py does:
// node onnx_check.cjs CHECKS, with data as JSON, lists of texts by column.
const fs = require('fs')
const ort = require('onnxruntime-node')

const missing = new Set(['', '?', 'na', 'n/a', 'nan', '-nan', 'null', 'none'])

function number(cell) {
  if (missing.has(cell.toLowerCase())) return NaN
  const plain = cell.replaceAll(',', '') // thousands; the caller of a graph reads written numbers
  return Number(plain)
}

async function check({ model, data, told }) {
  const columns = JSON.parse(fs.readFileSync(data, 'utf8'))
  const want = fs.readFileSync(told, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 })
  const feeds = {}
  for (const name of session.inputNames) {
    const of = session.inputMetadata.find((m) => m.name === name)
    const cells = columns[name].map((c) => c.trim())
    feeds[name] = of.type === 'string' ? new ort.Tensor('string', cells, [cells.length, 1])
      : new ort.Tensor('float32', Float32Array.from(cells, number), [cells.length, 1])
  }
  const got = await session.run(feeds)
  const scores = (got.output_scores ?? got.scores ?? got.prediction).data
  const label = got.output_label ?? got.label
  const outs = scores.length / want.length
  let largest = 0
  let error = 0
  want.forEach((w, i) => [w.scores ?? w.prediction].flat().forEach((v, k) => {
    largest = Math.max(largest, Math.abs(v))
    error = Math.max(error, Math.abs(v - scores[i * outs + k]))
  }))
  if (!(error < 1e-4 * largest)) throw new Error(`scores differ by ${error} of ${largest}`)
  let wrong = 0
  if (label) {
    want.forEach((w, i) => {
      let row = Array.from(scores.slice(i * outs, (i + 1) * outs))
      if (outs === 1) row.push(-row[0])
      const p = got.probabilities ? Array.from(got.probabilities.data.slice(i * got.probabilities.dims[1], (i + 1) * got.probabilities.dims[1])) : null
      const apart = (v) => { v.sort((a, b) => b - a); return v[0] - v[1] }
      if (w.prediction !== label.data[i] && apart(row) > 1e-5 * Math.max(1, largest) && !(p && apart(p) < 1e-5)) wrong++
    })
  }
  if (wrong) throw new Error(`${wrong} labels differ`)
  return { error: error / largest, rows: want.length }
}

async function main() {
  for (const c of JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))) {
    let result
    try {
      result = await check(c)
    } catch (e) {
      result = { failed: String(e).slice(0, 600) }
    }
    console.log(JSON.stringify({ name: c.name, ...result }))
  }
}

main()
