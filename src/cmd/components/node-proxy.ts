/** `k8ts proxy` as a program of its own. */

import { runAlone } from "../process/run-program.ts";
import { proxyCommand } from "./proxy.ts";

await runAlone(proxyCommand());
