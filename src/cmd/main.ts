/** The command line. One file for each command; program.ts puts them together. */
import { program } from "./program.ts";
import { runProgram } from "./run-program.ts";

await runProgram(program(process.argv[2]));
