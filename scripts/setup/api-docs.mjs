/** The texts of `kubectl explain`, from Debian's packages, into .tools/api-docs.json. Without them everything works, with fewer texts. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onPath, reason, root, step, tools } from "./steps.mjs";

const TIMEOUT_MS = 60_000;

export function apiDocsMissing() {
  return !existsSync(join(tools, "api-docs.json")) && onPath("dpkg") && existsSync("/etc/apt");
}

export function installApiDocs(node) {
  if (!apiDocsMissing()) return;
  step("Reading the API's documentation from Debian's packages into .tools/ (for kubectl explain)", () => {
    mkdirSync(tools, { recursive: true });
    const result = spawnSync(node, [join(root, "scripts", "api-docs.ts")], { encoding: "utf8", timeout: TIMEOUT_MS });
    if (result.status !== 0)
      console.log(`k8ts: not available now, kubectl explain shows fewer texts: ${reason(result)}`);
  });
}
