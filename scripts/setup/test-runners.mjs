/** What tests of the published package run it with: vitest, jest, the compiler, and Node 22, into .tools/test-runners. */
import { installLocked } from "./locked-packages.mjs";

export function installTestRunners() {
  installLocked("test-runners", {
    title: "Installing vitest, jest and Node 22 from npm into .tools/ (for tests of the package, once)",
    sentence: "the test runners could not be installed from npm",
  });
}
