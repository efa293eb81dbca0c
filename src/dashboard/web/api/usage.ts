/**
 * The usage of nodes and Pods over the last quarter of an hour, asked for while a view shows it.
 *
 * 1. Asked every 15 s, as often as it is measured. A user who may not see it, or a cluster without it, has none.
 * 2. It is kept while the page is open, in bounded memory; a view that comes back sees what was before.
 */
import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { History } from "../model/history.ts";
import { type NodeMetrics, type PodMetrics, roundOf } from "../model/usage.ts";
import { now, sleep } from "../time.ts";
import { ask } from "./request.ts";

const BASE = "/apis/metrics.k8s.io/v1beta1";
const EVERY_MS = 15_000;
/** Until the first figures: a cluster that has just started has none. */
const SOON_MS = 3_000;
const POINTS = 60;

interface List<T> {
  readonly items?: readonly T[];
}

export class Usage {
  readonly cpu = new History(POINTS);
  readonly memory = new History(POINTS);
  /** Incremented with each round. */
  readonly version: Signal<number> = signal(0);
  readonly #namespaces = new Map<string, number>();
  #abort: AbortController | undefined;
  #latest = { nodes: [] as readonly NodeMetrics[], pods: new Map<string, readonly PodMetrics[]>() };

  /** Pods of this namespace; empty: of all. */
  use(namespace: string): () => void {
    this.#namespaces.set(namespace, (this.#namespaces.get(namespace) ?? 0) + 1);
    this.#abort?.abort();
    this.#abort = new AbortController();
    void this.#run(this.#abort.signal);
    return () => {
      const left = (this.#namespaces.get(namespace) ?? 1) - 1;
      if (left > 0) this.#namespaces.set(namespace, left);
      else this.#namespaces.delete(namespace);
      if (this.#namespaces.size === 0) this.#abort?.abort();
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ask(signal);
      if (signal.aborted) return;
      await sleep(this.cpu.size === 0 ? SOON_MS : EVERY_MS, signal);
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const list = async <T>(path: string) => {
      const { items } = await ask<List<T>>(`${BASE}${path}`, { signal }).catch(() => ({ items: undefined }));
      return items;
    };
    const wanted = this.#namespaces.has("") ? [""] : [...this.#namespaces.keys()];
    const [nodes = this.#latest.nodes, ...pods] = await Promise.all([
      list<NodeMetrics>("/nodes"),
      ...wanted.map((namespace) =>
        list<PodMetrics>(namespace === "" ? "/pods" : `/namespaces/${encodeURIComponent(namespace)}/pods`),
      ),
    ]);
    if (signal.aborted) return;
    this.#latest = {
      nodes: nodes as readonly NodeMetrics[],
      pods: new Map(wanted.map((name, at) => [name, (pods[at] ?? []) as readonly PodMetrics[]])),
    };
    const round = roundOf(this.#latest.nodes, [...this.#latest.pods.values()].flat());
    const atMs = now();
    this.cpu.add(atMs, round.cpu);
    this.memory.add(atMs, round.memory);
    this.version.value += 1;
  }
}

export const UsageContext = createContext<Usage | undefined>(undefined);

/** Asked for while the calling view is shown. */
export function useUsage(namespace: string): Usage {
  const usage = useContext(UsageContext);
  if (usage === undefined) throw new Error("a view outside of the page");
  useEffect(() => usage.use(namespace), [usage, namespace]);
  void usage.version.value;
  return usage;
}
