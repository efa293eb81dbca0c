/**
 * Makes a fresh checkout ready: the locked npm dependencies (the pinned Node among them), the API's documentation and, with --for-tests,
 * what tests need: etcd, kubectl and Helm, containerd and what belongs to it, chromium, Prometheus, other projects' schemas, operator frameworks and test runners. Installs only what is
 * missing, says what it does, and fails with one sentence. Two at once in a checkout wait for each other.
 * Runs before anything is installed, so it is plain JavaScript for whatever Node (≥ 18) the machine has.
 *
 *     node scripts/setup.mjs [--for-tests] [SCRIPT [ARGUMENTS…]]     then runs SCRIPT with the Node that it has installed
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { apiDocsMissing } from "./setup/api-docs.mjs";
import { dependenciesMissing } from "./setup/dependencies.mjs";
import { runAlone } from "./setup/lock.mjs";
import { pinnedNode, root } from "./setup/steps.mjs";

const forTests = process.argv[2] === "--for-tests";
const [script, ...args] = process.argv.slice(forTests ? 3 : 2);

if (forTests || dependenciesMissing() || apiDocsMissing()) {
  const code = runAlone(join(root, "scripts", "setup", "install.mjs"), forTests ? ["--for-tests"] : []);
  if (code !== 0) process.exit(code);
}
if (script !== undefined) runScript();

/** Not left to the shell: it may remember the Node that it found before the pinned one was there. */
function runScript() {
  const child = spawn(pinnedNode(), [join(root, script), ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
