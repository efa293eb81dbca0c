/**
 * Builds the library of the published package: programs into dist/lib, types into dist/types. A checkout does not need
 * it; `npm pack` runs it.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeDeclarations } from "./library/declarations.ts";
import { buildPrograms } from "./library/programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const programs = join(root, "dist/lib");
const types = join(root, "dist/types");
for (const folder of [programs, types]) await rm(folder, { recursive: true, force: true });
await Promise.all([buildPrograms(root, programs), writeDeclarations(root, types)]);
