// source_js.mjs CHECKS: has each module, of a JSON list of {name, model, rows, out}, predict rows, and writes lines of JSON to out.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

for (const { name, model, rows, out } of JSON.parse(fs.readFileSync(process.argv[2]))) {
  let failed = "";
  try {
    const { predict, selfTest } = await import(pathToFileURL(model));
    if (!selfTest()) failed = "its own rows";
    const lines = [];
    for (const row of JSON.parse(fs.readFileSync(rows))) lines.push(JSON.stringify(predict(row)));
    fs.writeFileSync(out, lines.join("\n"));
  } catch (e) {
    failed = String(e.stack);
  }
  console.log(JSON.stringify({ name, failed }));
}
