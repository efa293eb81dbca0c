/** `npm run check`: types, lint, layers and docs, side by side; prints only what is wrong. */
import { spawn } from "node:child_process";
import { once } from "node:events";

const checks = [
  ["types", "tsc", ["-p", "."]],
  ["types of the page", "tsc", ["-p", "src/dashboard/web"]],
  ["lint", "biome", ["check", "--error-on-warnings"]],
  ["layers and docs", "vitest", ["run", "test/layers", "test/docs"]],
] as const;

const started = performance.now();
const results = await Promise.all(
  checks.map(async ([name, command, args]) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    const [code] = await once(child, "close");
    return { name, ok: code === 0, output, seconds: (performance.now() - started) / 1000 };
  }),
);
for (const { name, ok, output, seconds } of results) {
  console.log(`${ok ? "ok  " : "FAIL"} ${name} (${seconds.toFixed(1)} s)`);
  if (!ok) console.log(output);
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
