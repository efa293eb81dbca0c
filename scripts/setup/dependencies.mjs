/** The npm dependencies, exactly as package-lock.json has them. Their install scripts do not run: see scripts/supply/rules.ts. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, step } from "./steps.mjs";

const stamp = join(root, "node_modules", ".k8ts-setup");

export function dependenciesMissing() {
  return !existsSync(stamp) || readFileSync(stamp, "utf8") !== wantedStamp();
}

export function installDependencies() {
  if (!dependenciesMissing()) return;
  step("Installing the locked npm dependencies (once, about half a minute)", () => {
    const flags = ["--include=dev", "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
    run("npm", ["ci", ...flags, "--loglevel=error"], { sentence: "the npm dependencies could not be installed" });
    writeFileSync(stamp, wantedStamp());
  });
}

function wantedStamp() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}
