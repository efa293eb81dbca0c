/** The npm dependencies, exactly as package-lock.json has them. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, step } from "./steps.mjs";

export function installDependencies() {
  const stamp = join(root, "node_modules", ".k8ts-setup");
  const wanted = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  step("Installing the locked npm dependencies (once, about half a minute)", () => {
    run("npm", ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"], {
      sentence: "the npm dependencies could not be installed",
    });
    writeFileSync(stamp, wanted);
  });
}
