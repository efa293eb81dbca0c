/** Ports of this machine that lead to Pods and Services: which there can be, and those that the dashboard has open. */
import type { core } from "#api";
import { askDashboard } from "../api/request.ts";
import type { Permission } from "../model/actions.ts";
import type { Tone } from "../model/pod.ts";
import type { ObjectPlace } from "../route.ts";

/** See server/forwards. */
export interface Forward {
  readonly id: number;
  readonly resource: "pods" | "services";
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly localPort: number;
  readonly pod: string;
  readonly open: number;
  readonly total: number;
  readonly trouble: string;
}

export interface KnownPort {
  readonly port: number;
  readonly name: string;
}

/** Undefined: nothing can be forwarded to it. */
export function portsOf({ group, plural }: ObjectPlace, object: object): readonly KnownPort[] | undefined {
  if (group !== "") return undefined;
  if (plural === "pods") {
    const { spec, status } = object as core.Pod;
    if (status?.phase !== "Running") return undefined;
    const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
    return [...(spec?.containers ?? []), ...sidecars]
      .flatMap(({ ports = [] }) => ports)
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ containerPort, name = "" }) => ({ port: containerPort, name }));
  }
  if (plural !== "services") return undefined;
  const { spec } = object as core.Service;
  if (Object.keys(spec?.selector ?? {}).length === 0) return undefined;
  const ports = (spec?.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  return ports.length === 0 ? undefined : ports.map(({ port, name = "" }) => ({ port, name }));
}

/** Of a Service, any of its Pods may be meant. */
export function forwardNeeds({ plural, namespace, name }: ObjectPlace): readonly Permission[] {
  const pods = { group: "", resource: "pods", namespace, name: plural === "pods" ? name : "" };
  return [{ ...pods, verb: "create", subresource: "portforward" }];
}

export interface ForwardState {
  readonly tone: Tone;
  readonly words: string;
}

export function forwardState({ open, total, trouble }: Forward): ForwardState {
  if (trouble !== "") return { tone: "bad", words: trouble };
  if (total === 0) return { tone: "quiet", words: "not used yet" };
  return { tone: "good", words: `${open} open, ${total} in all` };
}

export function addressOf({ localPort }: Forward): string {
  return `http://127.0.0.1:${localPort}/`;
}

export async function listForwards(signal: AbortSignal): Promise<readonly Forward[]> {
  return (await askDashboard<{ items: readonly Forward[] }>("forwards", { signal })).items;
}

export function openForward(
  { plural, namespace, name }: ObjectPlace,
  port: number,
  localPort: number,
): Promise<Forward> {
  return askDashboard("forwards", { method: "POST", body: { resource: plural, namespace, name, port, localPort } });
}

export async function closeForward(id: number): Promise<void> {
  await askDashboard(`forwards/${id}`, { method: "DELETE" });
}
