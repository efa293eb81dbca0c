/**
 * Routes from this node to the Pods of all others.
 *
 *     Nodes --► planOverlay ◄── links of this node
 *                   └──► overlayChanges ◄── present routes       ══► kernel
 *
 * When it stops, the routes stay in the kernel.
 */
import { type core, kinds } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informers, revisionOf, WorkReporter } from "#client";
import { applyToKernel } from "../kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import { overlayChanges } from "./changes.ts";
import { readNetwork } from "./kernel.ts";
import { type OverlayMode, type OverlayPlan, type Peer, planOverlay } from "./plan.ts";

export interface OverlayOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly mode: OverlayMode;
  readonly resyncMs?: number | undefined;
  readonly run?: Program;
  readonly onReady?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Links change without an event: they are read again this often. */
const DEFAULT_RESYNC_MS = 60_000;

/** Until the signal aborts. */
export async function runOverlay(options: OverlayOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, clock, random, log, onReady, resyncMs = DEFAULT_RESYNC_MS, run = runProgram } = options;
  const tasks = new TaskGroup({ parent: signal });
  const nodes = new Informers({ client, clock, random, log, tasks }).of(kinds.Node);
  const changed = new ChangeSignal();
  const known = new Map<string, string>();
  let problems: readonly string[] = [];
  try {
    await nodes.synced;
    // Heartbeats change Nodes every few seconds, but no routes.
    nodes.onChange(({ type, object }) => {
      const peer = peerOf(object);
      const now = type === "deleted" ? "" : JSON.stringify(peer);
      if (known.get(peer.name) === now) return;
      known.set(peer.name, now);
      changed.mark(revisionOf(object));
    });
    const apply = async (_whole: boolean, applying: AbortSignal): Promise<string | undefined> => {
      const peers = nodes.cache.list().map(peerOf);
      const self = peers.find(({ name }) => name === nodeName);
      // The Node may be deleted while its Pods still run: the routes stay.
      if (self === undefined || self.addresses.length === 0) return undefined;
      const applied = await applyOverlay(self, peers, options.mode, run, applying);
      for (const problem of applied.problems)
        if (!problems.includes(problem)) log.warn("Pods of a node cannot be reached", { problem });
      problems = applied.problems;
      return applied.changes === 0 ? undefined : `${applied.changes} route changes for ${peers.length - 1} nodes`;
    };
    const reporter = new WorkReporter({ client, actor: `overlay/${nodeName}`, log, signal });
    tasks.run("overlay", (running) =>
      applyToKernel({ changed, apply, reporter, resyncMs, onReady, clock, random, log }, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

/** Returns how many commands it ran. */
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
