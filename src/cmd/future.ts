/** Commands that have their name already, but whose part does not exist yet: each says so in one line. */
import { Command } from "commander";
import { K8TS_VERSION } from "#apiserver";
import { ClusterError } from "#cluster";

const FUTURE: Record<string, string> = {
  dashboard: "the web interface",
};

export function futureCommands(): Command[] {
  return Object.entries(FUTURE).map(([name, purpose]) =>
    new Command(name)
      .description(`${purpose} (not in ${K8TS_VERSION} yet)`)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new ClusterError(`\`k8ts ${name}\` (${purpose}) is not part of k8ts ${K8TS_VERSION} yet.`);
      }),
  );
}
