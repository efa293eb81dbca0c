/** Programs under test: run to their end, or started and followed while they print. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running extends AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  stdout(): string;
  stderr(): string;
  /** Resolves when the text has been printed; rejects if the process ends before. */
  printed(text: string): Promise<void>;
  ended(): Promise<Result>;
}

export interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Given to it as its standard input. */
  readonly input?: string | undefined;
}

export function start(program: string, args: readonly string[], { env, cwd, input }: CommandOptions): Running {
  const child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  // It need not read its input: a closed pipe is no fault.
  child.stdin.on("error", () => {}).end(input ?? "");
  return {
    process: child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async printed(text) {
      while (!output.stdout.includes(text)) {
        if (child.exitCode !== null) {
          throw new Error(`${program} ${args.join(" ")} ended: ${output.stdout}${output.stderr}`);
        }
        const waiting = new AbortController();
        const { signal } = waiting;
        await Promise.race([once(child.stdout, "data", { signal }), once(child, "exit", { signal })]);
        waiting.abort();
      }
    },
    async ended() {
      const [code] = await closed;
      return { code, ...output };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

export function run(program: string, args: readonly string[], options: CommandOptions): Promise<Result> {
  return start(program, args, options).ended();
}
