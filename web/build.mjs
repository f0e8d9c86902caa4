// Bundles the scripts of report and studio into the Python package, with the licences of what it contains.
import { readFile, readdir, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "..", "src", "qwo", "report", "_bundle");

const result = await build({
  entryPoints: { report: join(here, "src", "main.ts"), studio: join(here, "src", "studio", "studio.ts") },
  outdir: target,
  absWorkingDir: here,
  bundle: true,
  write: false,
  minify: true,
  metafile: true,
  format: "iife",
  target: "es2020",
  legalComments: "none", // LICENSES.txt, which the page shows, has them in full
});
for (const { text } of result.outputFiles) {
  if (/<\/script|<!--/i.test(text)) {
    throw new Error("a bundle holds text that would end its own element in a page");
  }
}

const packages = new Set();
for (const path of Object.keys(result.metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
  if (found) packages.add(found[1]);
}

await mkdir(target, { recursive: true });
await writeWhole("LICENSES.txt", (await Promise.all([...packages].sort().map(licence))).join("\n"));
for (const { path, text } of result.outputFiles) await writeWhole(basename(path), text);

async function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} comes without a licence file; it cannot be passed on`);
  const heading = `${name} ${version} (${license})`;
  const text = (await readFile(join(folder, file), "utf8")).trim().replaceAll("\r\n", "\n");
  return `${heading}\n${"=".repeat(heading.length)}\n\n${text}\n`;
}

async function writeWhole(name, text) {
  const path = join(target, name);
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}
