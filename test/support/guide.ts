/** The commands of a guide: in blocks of the kind `console`, each with the first line that it says, if any. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../layers/imports.ts";

export interface Step {
  readonly command: string;
  /** The first line that it says; none: anything. */
  readonly says: string | undefined;
}

export function stepsOf(page: string): Step[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block.split(/^\$ /m).flatMap((part): Step[] => {
      const [command = "", says] = part.trimEnd().split("\n");
      return command === "" ? [] : [{ command, says }];
    }),
  );
}
