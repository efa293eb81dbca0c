/** `k8ts kubelet` as a program of its own. */
import * as hostKubelet from "./host-kubelet.ts";
import { kubeletCommand } from "./kubelet.ts";
import { runAlone } from "./run-program.ts";

await runAlone(kubeletCommand(async () => hostKubelet));
