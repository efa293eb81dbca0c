/**
 * Images of nodes, and pulls: what nodes report to have, which containers wait for an image and why.
 *
 * 1. A kubelet reports at most 50 images, the largest.
 */
import type { core } from "#api";
import type { Tone } from "../model/pod.ts";
import { bytes } from "../model/quantity.ts";

export interface ImageRow {
  /** A name with a tag where there is one. */
  readonly name: string;
  readonly others: readonly string[];
  readonly sizeBytes: number;
  readonly nodes: readonly string[];
  /** Containers that run from it. */
  readonly containers: number;
}

interface Named {
  readonly metadata?: { readonly name?: string; readonly namespace?: string } | undefined;
}

type NodeLike = Named & { readonly status?: core.NodeStatus | undefined };
type PodLike = Named & { readonly spec?: core.PodSpec | undefined; readonly status?: core.PodStatus | undefined };

export function imagesOf(nodes: Iterable<NodeLike>, pods: Iterable<PodLike>): ImageRow[] {
  const used = new Map<string, number>();
  for (const { spec, status } of pods) {
    if (status?.phase === "Succeeded" || status?.phase === "Failed") continue;
    for (const { image = "" } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])])
      used.set(fullName(image), (used.get(fullName(image)) ?? 0) + 1);
  }
  const rows = new Map<string, { names: readonly string[]; sizeBytes: number; nodes: string[] }>();
  for (const { metadata, status } of nodes)
    for (const { names = [], sizeBytes = 0 } of status?.images ?? []) {
      const key = [...names].sort().join(" ");
      const row = rows.get(key) ?? { names, sizeBytes: Number(sizeBytes), nodes: [] as string[] };
      row.nodes.push(metadata?.name ?? "");
      rows.set(key, row);
    }
  return [...rows.values()].map(({ names, sizeBytes, nodes: on }) => {
    const byTag = names.filter((name) => !name.includes("@"));
    const name = byTag[0] ?? names[0] ?? "no name";
    const containers = [...new Set(names.map(fullName))].reduce((sum, each) => sum + (used.get(each) ?? 0), 0);
    return { name, others: names.filter((each) => each !== name), sizeBytes, nodes: on.sort(), containers };
  });
}

/** As runtimes spell it: `nginx` is `docker.io/library/nginx:latest`. */
export function fullName(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const named = hasHost ? image : rest.length === 0 ? `docker.io/library/${image}` : `docker.io/${image}`;
  return named.includes("@") || /:[^/]*$/.test(named.slice(named.lastIndexOf("/"))) ? named : `${named}:latest`;
}

/** What a kubelet of k8ts says of a pull. */
export interface OngoingPull {
  readonly image: string;
  readonly namespace: string;
  readonly pod: string;
  readonly tookMs: number;
  readonly receivedBytes: number;
  readonly totalBytes: number;
  readonly layers: number;
  readonly completeLayers: number;
}

export interface PullRow {
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  readonly image: string;
  readonly node: string;
  readonly tone: Tone;
  readonly words: string;
  /** How much of it there is, from 0 to 1; undefined: nobody knows. */
  readonly share?: number | undefined;
}

const FAILED = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
const CREATING = new Set(["ContainerCreating", "PodInitializing"]);

/** Containers that wait, of a Pod that has a node. */
function waiting({ status }: PodLike): core.ContainerStatus[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.filter(({ state }) => state?.waiting !== undefined);
}

/** Nodes that may be pulling. */
export function nodesToAsk(pods: Iterable<PodLike>): string[] {
  const found = new Set<string>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? "";
    const isCreating = waiting(pod).some(({ state }) => CREATING.has(state?.waiting?.reason ?? ""));
    if (node !== "" && isCreating) found.add(node);
  }
  return [...found].sort();
}

/** Failures first, then what goes on. */
export function pullsOf(pods: Iterable<PodLike>, ongoing: readonly OngoingPull[]): PullRow[] {
  const failed: PullRow[] = [];
  const busy: PullRow[] = [];
  for (const pod of pods) {
    const { name = "", namespace = "" } = pod.metadata ?? {};
    const node = pod.spec?.nodeName ?? "";
    const about = { namespace, pod: name, node };
    for (const { name: container = "", image = "", state } of waiting(pod)) {
      const { reason = "", message = "" } = state?.waiting ?? {};
      if (FAILED.has(reason)) {
        const words = message === "" ? reason : `${reason}: ${message}`;
        failed.push({ ...about, id: `${namespace}/${name}/${container}`, image, tone: "bad", words });
      }
    }
    for (const each of ongoing) {
      if (each.namespace !== namespace || each.pod !== name) continue;
      const share = each.totalBytes > 0 ? Math.min(1, each.receivedBytes / each.totalBytes) : undefined;
      const { image } = each;
      busy.push({
        ...about,
        id: `${namespace}/${name}/${image}`,
        image,
        tone: "busy",
        words: progressText(each),
        share,
      });
    }
  }
  return [...failed, ...busy];
}

export function progressText({ tookMs, receivedBytes, totalBytes, layers, completeLayers }: OngoingPull): string {
  const time = `for ${Math.round(tookMs / 1000)} s`;
  if (layers === 0) return `pulling ${time}, no layer has begun`;
  const far = `${bytes(receivedBytes)} of ${bytes(totalBytes)}`;
  return `pulling ${time}: ${far}, ${completeLayers} of ${layers} ${layers === 1 ? "layer" : "layers"} complete`;
}
