/** `k8ts proxy` as a separate program. */

import { runAlone } from "../process/run-program.ts";
import { proxyCommand } from "./proxy.ts";

await runAlone(proxyCommand());
