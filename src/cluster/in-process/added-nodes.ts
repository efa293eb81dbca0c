/**
 * Simulated nodes that are added while the cluster runs: a Node with an annotation is one of the fleet.
 *
 *     k8ts node add ══► Node, annotation simulated.k8ts.io/number: "4" --► fleet.add ──► the node reports, and is Ready
 *     k8ts node remove ══► Node deleted --► fleet.remove
 *
 * 1. The API has them: the next start of the cluster has them again.
 * 2. The number decides the node's addresses, as for the nodes of the start.
 */
import { type core, kinds } from "#api";
import type { Clock, Logger, Random } from "#base";
import { Client, Informer, type InProcessHandle, inProcess } from "#client";
import type { Fleet, NodeSettings } from "#kubelet";

export const ADDED = "simulated.k8ts.io/number";

const USER = { name: "k8ts-nodes", groups: ["system:masters", "system:authenticated"] };

export interface AddedNodesOptions {
  readonly handle: InProcessHandle;
  readonly fleet: Fleet;
  readonly settingsOf: (name: string, number: number) => NodeSettings | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function followAddedNodes(options: AddedNodesOptions, signal: AbortSignal): Promise<void> {
  const { handle, fleet, settingsOf, clock, random, log } = options;
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  const informer = new Informer({ client: client.of<core.Node>(kinds.Node), clock, random, log });
  const own = new Set<string>();
  informer.onChange(({ type, object: { metadata } }) => {
    const { name = "", annotations = {} } = metadata;
    const number = Number(annotations[ADDED]);
    if (type === "deleted") {
      if (own.delete(name)) fleet.remove(name);
      return;
    }
    const settings = Number.isInteger(number) && number > 0 ? settingsOf(name, number) : undefined;
    if (settings !== undefined && fleet.add(settings)) own.add(name);
  });
  try {
    await informer.run(signal);
  } finally {
    await client.close();
  }
}
