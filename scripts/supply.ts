/**
 * `npm run supply`: is what k8ts is made of what it should be? Checks the lock files, makes the bill of materials, and
 * asks the registry for known vulnerabilities. `--sbom FILE` writes the bill of materials and does nothing else; `npm
 * pack` puts it into dist/.
 *
 * 1. Only the question about vulnerabilities needs a network. An unanswered one is reported, and is no failure.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AUDIT, auditOutcome } from "./supply/audit.ts";
import { findingsHere, root, sbomHere } from "./supply/repository.ts";

const TIMEOUT_MS = 60_000;

const [flag, file] = process.argv.slice(2);
if (flag === undefined) check();
else if (flag === "--sbom" && file !== undefined) writeSbom(resolve(root, file));
else {
  console.error("usage: npm run supply [-- --sbom FILE]");
  process.exitCode = 1;
}

function check(): void {
  const found = findingsHere();
  for (const finding of found) console.log(`FAIL ${finding}`);
  if (found.length === 0) console.log("ok   lock files: integrity, versions, licences, install scripts");
  const { components } = sbomHere(process.env.SOURCE_DATE_EPOCH);
  const shipped = components.filter(({ scope }) => scope !== "excluded").length;
  console.log(`ok   bill of materials: ${components.length} components, ${shipped} of them reach users`);
  const isSafe = audit();
  process.exitCode = found.length === 0 && isSafe ? 0 : 1;
}

function audit(): boolean {
  const { stdout } = spawnSync("npm", AUDIT, { cwd: root, encoding: "utf8", timeout: TIMEOUT_MS });
  const outcome = auditOutcome(stdout ?? "");
  if (outcome.kind === "clean") console.log("ok   npm audit: no known vulnerabilities in what reaches users");
  if (outcome.kind === "unanswered")
    console.log(
      `?    npm audit: the registry has no answer about vulnerabilities (${outcome.reason}); ask another one`,
    );
  if (outcome.kind === "vulnerable") for (const each of outcome.packages) console.log(`FAIL npm audit: ${each}`);
  return outcome.kind !== "vulnerable";
}

function writeSbom(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(sbomHere(process.env.SOURCE_DATE_EPOCH), undefined, 2)}\n`);
}
