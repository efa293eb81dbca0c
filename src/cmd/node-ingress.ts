/** `k8ts ingress` as a program of its own. */
import { ingressCommand } from "./ingress.ts";
import { runAlone } from "./run-program.ts";

await runAlone(ingressCommand());
