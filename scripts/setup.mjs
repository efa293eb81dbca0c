/**
 * Makes a fresh checkout ready: the locked npm dependencies (the pinned Node among them), the API's documentation and, with --for-tests,
 * what tests need: etcd, kubectl and Helm, containerd and what belongs to it, chromium, Prometheus, other projects' schemas, operator frameworks and test runners. Installs only what is
 * missing, says what it does, and fails with one sentence.
 * Runs before anything is installed, so it is plain JavaScript for whatever Node (≥ 18) the machine has.
 *
 *     node scripts/setup.mjs [--for-tests] [SCRIPT [ARGUMENTS…]]     then runs SCRIPT with the Node that it has installed
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installApiDocs } from "./setup/api-docs.mjs";
import { installChromium } from "./setup/chromium.mjs";
import { installDependencies } from "./setup/dependencies.mjs";
import { installEtcd } from "./setup/etcd.mjs";
import { installKubectl } from "./setup/kubectl.mjs";
import { installNodePackages } from "./setup/node-packages.mjs";
import { installOperatorFrameworks } from "./setup/operator-frameworks.mjs";
import { installOperatorSchemas } from "./setup/operator-schemas.mjs";
import { installPrometheus } from "./setup/prometheus.mjs";
import { root } from "./setup/steps.mjs";
import { installTestRunners } from "./setup/test-runners.mjs";

const forTests = process.argv[2] === "--for-tests";
const [script, ...args] = process.argv.slice(forTests ? 3 : 2);

try {
  installDependencies();
  installApiDocs(pinnedNode());
  if (forTests) {
    installEtcd();
    installKubectl();
    installNodePackages();
    installChromium();
    installPrometheus();
    installOperatorSchemas();
    installOperatorFrameworks();
    installTestRunners();
  }
} catch (error) {
  console.error(`k8ts: ${error.message}`);
  process.exit(1);
}
if (script !== undefined) runScript();

/** Not left to the shell: it may remember the Node that it found before the pinned one was there. */
function runScript() {
  const child = spawn(pinnedNode(), [join(root, script), ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

function pinnedNode() {
  const pinned = join(root, "node_modules", ".bin", "node");
  return existsSync(pinned) ? pinned : process.execPath;
}
