/** Runs a program of the system with something on its standard input, and says what went wrong in its own words. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export type Program = (command: string, args: readonly string[], input: string, signal: AbortSignal) => Promise<string>;

export class ProgramError extends Error {
  readonly exitCode: number | null;
  constructor(command: string, exitCode: number | null, stderr: string) {
    super(`${command}: ${stderr.trim() || `exit code ${exitCode}`}`);
    this.name = "ProgramError";
    this.exitCode = exitCode;
  }
}

/** What it prints. Throws ProgramError where it fails. */
export const runProgram: Program = async (command, args, input, signal) => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // One that ends without having read everything says why on its own.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (exitCode !== 0) throw new ProgramError(command, exitCode, stderr);
  return stdout;
};
