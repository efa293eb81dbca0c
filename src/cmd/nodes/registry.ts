/** `k8ts registry`: a registry of images on this machine, from which the cluster's nodes pull. */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { type RegistryPlace, runStandaloneRegistry } from "#cluster";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { wholeNumber } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const PORT = 5000;

interface RegistryFlags extends DataDirOption, LoggingFlagOptions {
  readonly dir?: string;
  readonly port: number;
}

export function registryCommand(): Command {
  const command = new Command("registry")
    .description(
      "serve a registry of images on localhost, for `docker push localhost:5000/app`; real nodes pull from it",
    )
    .addOption(dataDirOption())
    .addOption(
      new Option("--dir <dir>", "folder of its images (default: registry in the data directory)").argParser((dir) =>
        resolve(dir),
      ),
    )
    .addOption(new Option("--port <port>", "port on localhost").argParser(wholeNumber(1, 65_535)).default(PORT))
    .action(async (flags: RegistryFlags) => {
      const { dir, port } = flags;
      await runUntilSignalled(
        [],
        (environment, signal) =>
          runStandaloneRegistry({ dataDir: dataDirOf(flags), dir, port, onReady }, environment, signal),
        loggingFrom(flags),
      );
    });
  for (const option of loggingOptions()) command.addOption(option);
  return command;
}

function onReady({ port, forNodes }: RegistryPlace): void {
  const nodes = forNodes ? "; real nodes pull it by that name" : "";
  process.stdout.write(`Registry at localhost:${port}: docker push localhost:${port}/NAME${nodes}. Ctrl-C stops it.\n`);
}
