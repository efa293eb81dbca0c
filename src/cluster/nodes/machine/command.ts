/** Runs programs of the machine (ip, mount, ctr, …) to completion. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

export class CommandError extends Error {
  override readonly name = "CommandError";
}

export interface CommandInput {
  /** Its standard input. */
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** The network namespace that it runs in: a path. Default: this process's. */
  readonly inNamespace?: string | undefined;
  /** Its whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What errors say instead of the command line. */
  readonly as?: string | undefined;
}

/** Returns its output. Throws CommandError with the last line of its errors if it fails. */
export async function run(program: string, args: readonly string[], options: CommandInput = {}): Promise<string> {
  const { input, inNamespace, env, as } = options;
  const [command, all] =
    inNamespace === undefined ? [program, args] : ["nsenter", [`--net=${inNamespace}`, "--", program, ...args]];
  const child = spawn(command, all, { stdio: ["pipe", "pipe", "pipe"], env: env ?? nodeEnv() });
  const ended = (once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>).catch((error: Error) => {
    throw new CommandError(`${command} cannot be run: ${error.message}`, { cause: error });
  });
  const work = [ended, text(child.stdout), text(child.stderr), feed(child.stdin, input ?? "")] as const;
  const [[code, signal], stdout, stderr] = await Promise.all(work);
  if (code !== 0) {
    const reason = stderr.trim().split("\n").at(-1) || `it ended with ${signal ?? `exit code ${code}`}`;
    throw new CommandError(`${as ?? `${program} ${args.join(" ")}`}: ${reason}`);
  }
  return stdout;
}

/** Throws what the input throws. A program that exits before it has read all of it reports its own error, if any. */
async function feed(stdin: Writable, input: NonNullable<CommandInput["input"]>): Promise<void> {
  let fault: { readonly error: unknown } | undefined;
  async function* chunks() {
    try {
      if (typeof input === "string" || input instanceof Uint8Array) yield Buffer.from(input);
      else yield* input;
    } catch (error) {
      fault = { error };
      throw error;
    }
  }
  await pipeline(chunks, stdin).catch(() => {});
  if (fault !== undefined) throw fault.error;
}

/** Also searches /sbin and /usr/sbin, which a user's PATH may lack. */
export function nodeEnv(): NodeJS.ProcessEnv {
  const path = [process.env.PATH, "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];
  return { ...process.env, PATH: path.filter((part) => part !== undefined && part !== "").join(":") };
}

export function findProgram(name: string): string | undefined {
  return (nodeEnv().PATH ?? "")
    .split(delimiter)
    .map((dir) => join(dir, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false; // not here
      }
    });
}
