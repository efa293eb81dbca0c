/** The command line. One file for each command; program.ts puts them together. */

import { runProgram } from "./process/run-program.ts";
import { program } from "./program.ts";

await runProgram(program(process.argv[2]));
