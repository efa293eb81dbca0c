/** `k8ts ingress` as a separate program. */

import { runAlone } from "../process/run-program.ts";
import { ingressCommand } from "./ingress.ts";

await runAlone(ingressCommand());
