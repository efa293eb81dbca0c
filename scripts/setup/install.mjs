/** Installs what a fresh checkout needs and, with --for-tests, what tests need. Run by setup.mjs, which lets only one run at a time. */
import { installApiDocs } from "./api-docs.mjs";
import { installChromium } from "./chromium.mjs";
import { installDependencies } from "./dependencies.mjs";
import { installEtcd } from "./etcd.mjs";
import { installKubectl } from "./kubectl.mjs";
import { installNodePackages } from "./node-packages.mjs";
import { installOperatorFrameworks } from "./operator-frameworks.mjs";
import { installOperatorSchemas } from "./operator-schemas.mjs";
import { installPrometheus } from "./prometheus.mjs";
import { pinnedNode } from "./steps.mjs";
import { installTestRunners } from "./test-runners.mjs";

try {
  installDependencies();
  installApiDocs(pinnedNode());
  if (process.argv[2] === "--for-tests") {
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
