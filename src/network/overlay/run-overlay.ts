/**
 * The ways from this node to the Pods of all others.
 *
 *     Nodes --► planOverlay ◄── links of this node
 *                   └──► overlayChanges ◄── what is there       ══► kernel
 *
 * When it stops, the ways stay: traffic goes on without it.
 */
import type { core } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informers, revisionOf, WorkReporter } from "#client";
import { Changed, tellKernel } from "../kernel/apply-to-kernel.ts";
import { Node } from "../kernel/kinds.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import { overlayChanges } from "./changes.ts";
import { readNetwork } from "./kernel.ts";
import { type OverlayMode, type OverlayPlan, type Peer, planOverlay } from "./plan.ts";

export interface OverlayOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly mode: OverlayMode;
  readonly resyncMs?: number;
  readonly run?: Program;
  readonly onReady?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Links change without anybody saying so. */
const DEFAULT_RESYNC_MS = 60_000;

/** Until the signal aborts. */
export async function runOverlay(options: OverlayOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, clock, random, log, onReady, resyncMs = DEFAULT_RESYNC_MS, run = runProgram } = options;
  const tasks = new TaskGroup({ parent: signal });
  const nodes = new Informers({ client, clock, random, log, tasks }).of(Node);
  const changed = new Changed();
  const known = new Map<string, string>();
  let problems: readonly string[] = [];
  try {
    await nodes.synced;
    // Nodes say every few seconds that they live: that changes no way.
    nodes.onChange(({ type, object }) => {
      const peer = peerOf(object);
      const now = type === "deleted" ? "" : JSON.stringify(peer);
      if (known.get(peer.name) === now) return;
      known.set(peer.name, now);
      changed.mark(revisionOf(object));
    });
    const tell = async (_whole: boolean, telling: AbortSignal): Promise<string | undefined> => {
      const peers = nodes.cache.list().map(peerOf);
      const self = peers.find(({ name }) => name === nodeName);
      // A node that is gone from the API may come back; its Pods are still there.
      if (self === undefined || self.addresses.length === 0) return undefined;
      const told = await applyOverlay(self, peers, options.mode, run, telling);
      for (const problem of told.problems)
        if (!problems.includes(problem)) log.warn("Pods of a node cannot be reached", { problem });
      problems = told.problems;
      return told.changes === 0 ? undefined : `${told.changes} changes of ways to ${peers.length - 1} nodes`;
    };
    const reporter = new WorkReporter({ client, actor: `overlay/${nodeName}`, log, signal });
    tasks.run("overlay", (running) =>
      tellKernel({ changed, tell, reporter, resyncMs, onReady, clock, random, log }, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

/** How many things had to be changed. */
export async function applyOverlay(
  self: Peer,
  peers: readonly Peer[],
  mode: OverlayMode,
  run: Program,
  signal: AbortSignal,
): Promise<Pick<OverlayPlan, "problems"> & { readonly changes: number }> {
  const { links, overlay } = await readNetwork(run, signal);
  const plan = planOverlay(self, peers, links, mode);
  const { ip, bridge } = overlayChanges(overlay, plan);
  if (ip.length > 0) await run("ip", ["-batch", "-"], `${ip.join("\n")}\n`, signal);
  if (bridge.length > 0) await run("bridge", ["-batch", "-"], `${bridge.join("\n")}\n`, signal);
  return { problems: plan.problems, changes: ip.length + bridge.length };
}

function peerOf({ metadata: { name = "" }, spec, status }: core.Node): Peer {
  const { podCIDRs = [], podCIDR } = spec ?? {};
  return {
    name,
    addresses: (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address),
    podCidrs: podCIDRs.length > 0 ? podCIDRs : podCIDR === undefined || podCIDR === "" ? [] : [podCIDR],
  };
}
