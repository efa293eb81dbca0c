/** Runs a command line; failures become one sentence and exit code 1. */
import { Command, CommanderError } from "commander";
import { leaveWithTheReader } from "./closed-pipes.ts";
import { sentenceFor } from "./sentence.ts";

export async function runProgram(program: Command): Promise<void> {
  leaveWithTheReader();
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode; // commander has printed it
    } else {
      process.stderr.write(`k8ts: ${sentenceFor(error)}\n`);
      process.exitCode = 1;
    }
  }
}

/** As the only command. */
export async function runAlone(command: Command): Promise<void> {
  const program = new Command("k8ts").exitOverride();
  program.addCommand(command.copyInheritedSettings(program).exitOverride());
  await runProgram(program);
}
