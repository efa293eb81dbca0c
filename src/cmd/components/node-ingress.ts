/** `k8ts ingress` as a program of its own. */

import { runAlone } from "../process/run-program.ts";
import { ingressCommand } from "./ingress.ts";

await runAlone(ingressCommand());
