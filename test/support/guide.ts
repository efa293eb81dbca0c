/** The pages of docs/guides: their commands, in blocks of the kind `console`, each with the first line that it says, if any. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../layers/imports.ts";

export interface Step {
  /** With its input, if that stands in the page. */
  readonly command: string;
  /** The first line that it says; none: anything. */
  readonly says: string | undefined;
}

export interface Guide {
  /** What the page's cluster is started with. Undefined: it needs none. */
  readonly up: readonly string[] | undefined;
  readonly steps: readonly Step[];
}

export function guide(path: string): Guide {
  const page = readFileSync(join(root, path), "utf8");
  const up = /^ {4}k8ts up (.+)$/m.exec(page)?.[1]?.split(" ");
  const steps = [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block.split(/^\$ /m).flatMap((part): Step[] => {
      const lines = part.trimEnd().split("\n");
      const end = lines[0]?.includes("<<'EOF'") ? lines.indexOf("EOF") : 0;
      const command = lines.slice(0, end + 1).join("\n");
      return command === "" ? [] : [{ command, says: lines[end + 1] }];
    }),
  );
  return { up, steps };
}
