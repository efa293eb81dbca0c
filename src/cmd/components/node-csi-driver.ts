/** `k8ts csi-driver` as a separate program. */

import { runAlone } from "../process/run-program.ts";
import { csiDriverCommand } from "./csi-driver.ts";

await runAlone(csiDriverCommand());
