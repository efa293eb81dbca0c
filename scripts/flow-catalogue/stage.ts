/** A cluster to play scenarios on, driven as a user drives it: bin/k8ts and the real kubectl. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realClock } from "#base";
import { Client, https } from "#client";
import type { FlowRecord } from "#flows";
import { readKubeconfig } from "#pki";
import type { Machine } from "../../test/containerd/support/machine.ts";
import type { Home } from "../../test/support/k8ts.ts";
import { CommandLine, tool } from "../../test/support/tools.ts";
import type { Stage } from "./scenario.ts";

export function stageOn(home: Home): Stage {
  const line = new CommandLine(tool("kubectl"), () => home);
  const given = (objects: readonly object[]) => (objects.length === 0 ? line : line.given(...objects));
  return {
    kubectl: (words, ...objects) => given(objects).ok(...words),
    async refused(words, ...objects) {
      const { code } = await given(objects).run(...words);
      if (code === 0) throw new Error(`kubectl ${words.join(" ")} was not refused`);
    },
    async client(program) {
      const clock = realClock();
      const { server, caPem, client = {} } = await readKubeconfig(`${home.dataDir}/kubeconfig`);
      return new Client({ transport: https({ server, caPem, ...client }, { clock }), clock, userAgent: program });
    },
  };
}

/** The same on a machine of its own, whose nodes are real. */
export function stageInside(machine: Machine): Stage {
  const kubectl = async (words: readonly string[], objects: readonly object[]) => {
    const file = join(machine.home.dir, `${randomUUID()}.json`);
    await writeFile(file, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    return machine.kubectl(...words.map((word) => (word === "-" ? file : word)));
  };
  return {
    kubectl: (words, ...objects) => kubectl(words, objects),
    refused: async (words, ...objects) => {
      const failed = await kubectl(words, objects).then(
        () => false,
        () => true,
      );
      if (!failed) throw new Error(`kubectl ${words.join(" ")} was not refused`);
    },
    client: () => Promise.reject(new Error("nobody outside reaches this machine")),
  };
}

/** All that was recorded, reads included. */
export async function recordsOf(home: Pick<Home, "k8ts">): Promise<readonly FlowRecord[]> {
  const { stdout, stderr, code } = await home.k8ts("kubectl", "get", "--raw", "/k8ts/flows?reads=true");
  if (code !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as FlowRecord | { readonly type: "end" })
    .filter((record): record is FlowRecord => record.type !== "end");
}
