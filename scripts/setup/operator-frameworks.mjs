/** The frameworks of operators that tests run against k8ts, into .tools/operator-frameworks. */
import { installLocked } from "./locked-packages.mjs";

export function installOperatorFrameworks() {
  installLocked("operator-frameworks", {
    title: "Installing two operator frameworks from npm into .tools/ (for tests, once, about half a minute)",
    sentence: "the operator frameworks could not be installed from npm",
    flags: ["--omit=dev"],
  });
}
