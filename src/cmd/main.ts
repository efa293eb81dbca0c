/**
 * The command line. One file for each command; this one puts them together and turns failures into one sentence and exit code 1.
 */
import { CommanderError } from "commander";
import { program } from "./program.ts";
import { sentenceFor } from "./sentence.ts";

try {
  await program().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode; // commander has printed it
  } else {
    process.stderr.write(`k8ts: ${sentenceFor(error)}\n`);
    process.exitCode = 1;
  }
}
