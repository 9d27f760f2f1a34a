// Runs an R script in real R, compiled to WebAssembly: node run.mjs SCRIPT FOLDER WORD FOLDER WORD ...
//
// In each folder, which R sees as its own, with the word as what stands behind the script's name. Prints a line of
// JSON for each: {"status": 0 or 1, "output": what R printed, "error": what it said when it stopped}.

import { WebR } from "webr";

const [script, ...rest] = process.argv.slice(2);
const r = new WebR({ interactive: false });
await r.init();
await r.FS.mkdir("/folder");
while (rest.length) {
  const [folder, word] = rest.splice(0, 2);
  await r.FS.mount("NODEFS", { root: folder }, "/folder");
  console.log(JSON.stringify(await ran(word)));
  await r.FS.unmount("/folder");
}
r.close();
process.exit(0);

async function ran(word) {
  const shelter = await new r.Shelter();
  // R starts once, for that takes seconds: so its arguments are those of the run, not those it was started with.
  const code = `
    setwd("/folder")
    run <- new.env()
    run$commandArgs <- function(trailingOnly) if (word == "") character() else word
    tryCatch(source("${script}", local = run, encoding = "UTF-8"), finally = setwd("/"))`;
  const { output } = await shelter.captureR(code, {
    env: { word },
    withAutoprint: false,
    throwJsException: false,
  });
  const lines = output.filter(({ type }) => type === "stdout").map(({ data }) => `${data}\n`);
  const failed = output.find(({ type }) => type === "error");
  const error = failed && (await (await failed.data.get("message")).toString());
  await shelter.purge();
  return { status: failed ? 1 : 0, output: lines.join(""), error: error ?? "" };
}
