/** Runs a program with standard input, and reports its standard error if it fails. */
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

/** Returns its standard output. Throws ProgramError if it fails. */
export const runProgram: Program = async (command, args, input, signal) => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // A program that exits without reading all of its input reports why itself.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (exitCode !== 0) throw new ProgramError(command, exitCode, stderr);
  return stdout;
};
