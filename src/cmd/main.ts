/** The command line: one file for each command, listed in program.ts. */

import { runProgram } from "./process/run-program.ts";
import { optimizeLater } from "./process/tiering.ts";
import { program } from "./program.ts";

optimizeLater();
await runProgram(program(process.argv[2]));
