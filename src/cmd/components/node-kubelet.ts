/** `k8ts kubelet` as a separate program. */

import { runAlone } from "../process/run-program.ts";
import * as hostKubelet from "./host-kubelet.ts";
import { kubeletCommand } from "./kubelet.ts";

await runAlone(kubeletCommand(async () => hostKubelet));
