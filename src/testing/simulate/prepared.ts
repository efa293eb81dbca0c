/** The cluster with which each run begins: built once for a process, and forked for each run. */
import { type KubeObject, kinds } from "#api";
import { applyAll } from "#client";
import type { Image } from "../cluster/api-server.ts";
import { APPLYING } from "../cluster/definitions.ts";
import { Decisions } from "./decisions.ts";
import { objectsOf } from "./seen-store.ts";
import { type Parts, SimulatedCluster } from "./simulated-cluster.ts";

/** Long enough for every node and every namespace to have what it needs. */
const CALM_MS = 60_000;
const NO_TIME = { usualMs: 0, someMs: 0, fewMs: 0 };

export interface Prepared {
  readonly image: Image;
  /** The same as objects, parsed once. */
  readonly objects: ReadonlyMap<string, KubeObject>;
}

export async function prepared(parts: Parts, manifests: readonly KubeObject[] = []): Promise<Prepared> {
  const decisions = new Decisions(0, 0);
  const cluster = await SimulatedCluster.open({ ...parts, seed: 0, decisions, latency: NO_TIME });
  try {
    cluster.start();
    await cluster.clock.settle();
    await cluster.advance(CALM_MS);
    if (manifests.length > 0) {
      const others = manifests.filter((each) => !isDefinition(each));
      await cluster.while(applyAll(cluster.client(), manifests.filter(isDefinition), APPLYING), "definitions");
      await cluster.advance(CALM_MS);
      await cluster.while(applyAll(cluster.client(), others, APPLYING), "manifests");
      await cluster.advance(CALM_MS);
    }
    const nodes = [...cluster.objects.values()].filter(({ kind }) => kind === kinds.Node.kind);
    if (nodes.length !== parts.nodes.count) throw new Error("the nodes of a simulation did not come up");
    const image = cluster.server.image();
    return { image, objects: objectsOf(image.state.entries()) };
  } finally {
    await cluster.stop();
  }
}

function isDefinition({ kind }: KubeObject): boolean {
  return kind === "CustomResourceDefinition";
}
