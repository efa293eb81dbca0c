/** Runs programs of the machine for the driver: mkfs, mount, losetup, …. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { NoSpaceError } from "../machine/machine.ts";

export class ProgramError extends Error {
  override readonly name = "ProgramError";
  /** Undefined if it did not start, or was killed. */
  readonly exitCode: number | undefined;

  constructor(message: string, exitCode?: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export type RunProgram = (program: string, args: readonly string[], signal?: AbortSignal) => Promise<string>;

const ENVIRONMENT = {
  PATH: [process.env.PATH, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"].filter(Boolean).join(":"),
  LC_ALL: "C",
};

/** Returns its output. A program that is aborted is killed, and has ended when this rejects. */
export const runProgram: RunProgram = async (program, args, signal) => {
  signal?.throwIfAborted();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: ENVIRONMENT });
  const kill = () => void child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const ended = (once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>).catch((error: Error) => {
      throw new ProgramError(`${program} cannot be run: ${error.message}`, undefined, { cause: error });
    });
    const [[code, by], stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    signal?.throwIfAborted();
    if (code === 0) return stdout;
    const reason = stderr.trim().split("\n").at(-1) || `it ended with ${by ?? `exit code ${code}`}`;
    const message = `${program} ${args.join(" ")}: ${reason}`;
    throw /No space left on device/.test(stderr)
      ? new NoSpaceError(message)
      : new ProgramError(message, code ?? undefined);
  } finally {
    signal?.removeEventListener("abort", kill);
  }
};
