/** `k8ts proxy` as a program of its own. */
import { proxyCommand } from "./proxy.ts";
import { runAlone } from "./run-program.ts";

await runAlone(proxyCommand());
