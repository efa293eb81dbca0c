/** `k8ts at WHEN get …`: kubectl on past state. */
import { Command } from "commander";
import { runKubectl } from "../inspect/kubectl.ts";
import { runningServer } from "../inspect/running-server.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { momentOf } from "./moments.ts";

export function atCommand(): Command {
  return new Command("at")
    .description("run kubectl on past state: `k8ts at 1041 get pods`, `k8ts at -5m get deployment web -o yaml`")
    .argument("<when>", "a revision (1041), a time (2026-01-31T12:00:00Z) an age (-5m, 5m) or now")
    .argument("<arguments...>", "arguments for kubectl: get or describe")
    .addOption(dataDirOption())
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (when: string, args: readonly string[], options: DataDirOption) => {
      const dir = dataDirOf(options);
      // All requests of kubectl read the same revision.
      const { revision } = await momentOf(dir, when);
      const { server } = await runningServer(dir);
      process.exitCode = await runKubectl(["--server", `${server}/k8ts/at/${revision}`, ...args], dir);
    });
}
