/**
 * `k8ts kubectl …`: runs the kubectl on PATH, or the one that the tests installed, with this cluster's kubeconfig. All
 * arguments are kubectl's, and its exit code is returned.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, existsSync, realpathSync, statSync, constants as to } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { Command } from "commander";
import { ClusterError, type DataDir } from "#cluster";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

export function kubectlCommand(): Command {
  return new Command("kubectl")
    .description("run kubectl with this cluster's kubeconfig; put --data-dir before kubectl's arguments")
    .argument("[arguments...]", "arguments for kubectl")
    .addOption(dataDirOption())
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: readonly string[], options: DataDirOption) => {
      process.exitCode = await runKubectl(args, dataDirOf(options));
    });
}

export async function runKubectl(args: readonly string[], { path, kubeconfig }: DataDir): Promise<number> {
  const program = findKubectl(process.env);
  if (program === undefined) {
    throw new ClusterError("kubectl was not found on PATH, and k8ts does not include it: install it and try again.");
  }
  if (!existsSync(kubeconfig)) throw new ClusterError(`There is no cluster in ${path}: start one with \`k8ts up\`.`);
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, KUBECONFIG: kubeconfig } });
  // Terminal signals reach both processes; signals sent to this one are forwarded. kubectl decides when to exit.
  const handOn = (signal: NodeJS.Signals) => void (process.stdin.isTTY || child.kill(signal));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, handOn);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** Skips bin/kubectl of this package, which searches for kubectl itself. */
function findKubectl({ PATH = "" }: NodeJS.ProcessEnv): string | undefined {
  const own = resolve(import.meta.dirname, "..");
  const shim = realPath(join(own, "bin", "kubectl"));
  return [...PATH.split(delimiter), join(own, ".tools", "kubectl"), join(own, "..", ".tools", "kubectl")]
    .map((dir) => join(dir || ".", "kubectl"))
    .find((file) => isProgram(file) && realPath(file) !== shim);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, to.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // absent or not executable: try the next
  }
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined; // there is none
  }
}
