/**
 * `--detach`: the cluster runs in its own process, which reports its progress to the parent over IPC.
 *
 *     k8ts up --detach ──► k8ts up (its log in k8ts.log) --► steps, then ready or failed --► parent prints and returns
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { ClusterError, commandFor, type DataDir, prepareDataDir, type Step } from "#cluster";
import { ownArguments } from "../process/own-arguments.ts";
import { banner, type Ready, type Reporter, readyLines, stepLine } from "./terminal.ts";

type Message =
  | { readonly type: "step"; readonly step: Step }
  | { readonly type: "ready"; readonly ready: Ready }
  | { readonly type: "failed"; readonly sentence: string };

export async function runDetached(dir: DataDir): Promise<void> {
  const entry = process.argv[1];
  if (entry === undefined) throw new ClusterError("k8ts cannot find its own program file, which --detach starts.");
  await prepareDataDir(dir);
  const log = openLog(dir.path, dir.log);
  process.stdout.write(`${banner()}\n`);
  const args = ownArguments();
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);

  const outcome = Promise.withResolvers<void>();
  child.on("message", (message: Message) => {
    switch (message.type) {
      case "step":
        process.stdout.write(`${stepLine(message.step)}\n`);
        return;
      case "ready":
        process.stdout.write(
          `${readyLines(message.ready).join("\n")}  log          ${dir.log}\n  stop         ${commandFor(dir, "down")}\n`,
        );
        outcome.resolve();
        return;
      case "failed":
        outcome.reject(new ClusterError(message.sentence));
    }
  });
  child.once("error", (error) => outcome.reject(error));
  child.once("exit", (code, signal) =>
    outcome.reject(
      new ClusterError(`The cluster exited before it was ready (${signal ?? `exit code ${code}`}); see ${dir.log}.`),
    ),
  );
  try {
    await outcome.promise;
  } finally {
    child.removeAllListeners();
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function openLog(dir: string, file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    throw new ClusterError(
      `The data directory ${dir} cannot be used: ${(error as Error).message}. Choose another with --data-dir.`,
      {
        cause: error,
      },
    );
  }
}

/** In the detached process. */
export function parentReporter(): Reporter {
  // The parent may exit at any time, also during a message: the cluster keeps running.
  const tell = (message: Message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  const leave = () => {
    if (process.connected) process.disconnect?.();
  };
  process.on("disconnect", () => {});
  return {
    begin: () => {},
    step: (step) => tell({ type: "step", step }),
    ready: (ready) => {
      tell({ type: "ready", ready });
      leave();
    },
    failed: (sentence) => {
      process.stderr.write(`k8ts: ${sentence}\n`);
      tell({ type: "failed", sentence });
      leave();
    },
    stopping: () => {},
    stopped: () => {},
  };
}
