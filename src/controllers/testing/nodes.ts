/**
 * Scripted nodes: each live node renews its Lease, reports Ready, runs its Pods and finishes terminating ones. Pods
 * without a node are placed on a ready one.
 */
import { type core, formatMicroTime, formatTime, instantOf, isStatusError, kinds } from "#api";
import type { VirtualClock } from "#base";
import type { Client } from "#client";

const LEASES = "kube-node-lease";
const RENEW_MS = 10_000;

export interface ScriptedNodes {
  /** Creates the Node; it lives until it is stopped. */
  add(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  stop(...names: readonly string[]): void;
  start(...names: readonly string[]): void;
  /** Advances time while the nodes work. */
  live(ms: number): Promise<void>;
}

export function scriptedNodes(client: Client, clock: VirtualClock): ScriptedNodes {
  const alive = new Set<string>();
  const nodes = client.of(kinds.Node);
  const pods = client.of(kinds.Pod);
  const leases = client.of(kinds.Lease).in(LEASES);
  const time = () => formatTime(instantOf(clock.now()));

  const beat = async (name: string) => {
    await leases.patch(name, {
      type: "merge",
      object: { spec: { renewTime: formatMicroTime(instantOf(clock.now())) } },
    });
    const node = await nodes.get(name);
    const conditions = node.status?.conditions ?? [];
    if (conditions.find(({ type }) => type === "Ready")?.status !== "True")
      await unlessGone(nodes.updateStatus({ ...node, status: { ...node.status, conditions: healthy(time()) } }));
  };
  const work = async () => {
    for (const pod of (await pods.list()).items) {
      const { name = "", namespace = "", deletionTimestamp } = pod.metadata;
      if (!alive.has(pod.spec?.nodeName ?? "")) continue;
      if (deletionTimestamp !== undefined) await unlessGone(pods.in(namespace).delete(name, { gracePeriodSeconds: 0 }));
      else if (!isRunning(pod))
        await unlessGone(
          pods.in(namespace).updateStatus({ ...pod, status: { ...pod.status, ...running(pod, time()) } }),
        );
    }
  };

  return {
    async add(name, labels = {}) {
      await nodes.create({ metadata: { name, labels } });
      await leases.create({ metadata: { name }, spec: { holderIdentity: name, leaseDurationSeconds: 40 } });
      alive.add(name);
      await beat(name);
    },
    stop(...names) {
      for (const name of names) alive.delete(name);
    },
    start(...names) {
      for (const name of names) alive.add(name);
    },
    async live(ms) {
      for (let left = ms; left > 0; left -= RENEW_MS) {
        for (const name of alive) await beat(name);
        await placePods(client);
        await work();
        await clock.advance(Math.min(left, RENEW_MS));
      }
    },
  };
}

/** Places Pods on ready nodes in turn. */
export async function placePods(client: Client): Promise<void> {
  const ready = (await client.of(kinds.Node).list()).items.filter(isReady).map(({ metadata }) => metadata.name ?? "");
  if (ready.length === 0) return;
  for (const [at, pod] of (await client.of(kinds.Pod).list()).items.entries()) {
    const { name = "", namespace = "", deletionTimestamp } = pod.metadata;
    if ((pod.spec?.nodeName ?? "") !== "" || deletionTimestamp !== undefined) continue;
    const binding = bindingTo(pod, ready[at % ready.length] ?? "");
    await unlessGone(client.of(kinds.Pod).in(namespace).subresource(name, "binding").create(binding));
  }
}

function healthy(time: string): readonly core.NodeCondition[] {
  const of = (type: string, status: string) => ({ type, status, lastHeartbeatTime: time, lastTransitionTime: time });
  return [of("MemoryPressure", "False"), of("DiskPressure", "False"), of("PIDPressure", "False"), of("Ready", "True")];
}

function isReady({ status, spec }: core.Node): boolean {
  const ready = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  return ready && (spec?.taints ?? []).length === 0;
}

function isRunning({ status }: core.Pod): boolean {
  const ready = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  return status?.phase === "Running" && ready;
}

function running({ status }: core.Pod, time: string): core.PodStatus {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  return { phase: "Running", conditions: [...others, { type: "Ready", status: "True", lastTransitionTime: time }] };
}

function bindingTo({ metadata: { name = "", namespace = "" } }: core.Pod, node: string) {
  return {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name, namespace },
    target: { apiVersion: "v1", kind: "Node", name: node },
  };
}

/** It may have been deleted or changed by a controller meanwhile. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatusError(error) || !["NotFound", "Conflict"].includes(error.reason)) throw error;
  }
}
