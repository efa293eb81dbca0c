/** Runs programs of the machine for the driver: mkfs, mount, losetup, …. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { NoSpaceError } from "../machine/machine.ts";

export class ProgramError extends Error {
  override readonly name = "ProgramError";
  /** Undefined if it did not start, or was killed. */
  readonly exitCode: number | undefined;
  /** What it says, without its command line. */
  readonly reason: string;

  constructor(message: string, exitCode?: number, options?: ErrorOptions & { readonly reason?: string }) {
    super(message, options);
    this.exitCode = exitCode;
    this.reason = options?.reason ?? message;
  }
}

export type RunProgram = (program: string, args: readonly string[], signal?: AbortSignal) => Promise<string>;

const ENVIRONMENT = {
  PATH: [process.env.PATH, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"].filter(Boolean).join(":"),
  LC_ALL: "C",
};

/** Far more than any of them says: it may be a program that a Pod has put there. */
const MAX_OUTPUT = 1_000_000;
const MAX_REASON = 1000;

/** `onMore`: called if it is longer than is read. */
async function beginningOf(stream: Readable, onMore: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT) onMore();
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

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
    const outputs = [child.stdout, child.stderr].map((stream) => beginningOf(stream, kill));
    const [[code, by], stdout = "", stderr = ""] = await Promise.all([ended, ...outputs]);
    signal?.throwIfAborted();
    if (code === 0) return stdout;
    const reason =
      stderr.trim().split("\n").at(-1)?.slice(0, MAX_REASON) || `it ended with ${by ?? `exit code ${code}`}`;
    const message = `${program} ${args.join(" ")}: ${reason}`;
    throw /No space left on device/.test(stderr)
      ? new NoSpaceError(message)
      : new ProgramError(message, code ?? undefined, { reason });
  } finally {
    signal?.removeEventListener("abort", kill);
  }
};
