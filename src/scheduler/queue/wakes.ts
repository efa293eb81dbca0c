/** Which events concern a rejected pod, and whether one of them is worth another attempt. */
import { type ClusterEvent, eventLabel, type Plugin, type PodInfo, type Wake } from "../framework/index.ts";
import type { Concern } from "./parked.ts";
import type { QueuedPod } from "./queued-pod.ts";

export type Rejected = Pick<QueuedPod, "pod" | "rejectors" | "pending">;

export type Answer = "skip" | "queue" | "at once";

/** Stands for extenders among the rejectors. They register no events: every event counts. */
export const EXTENDER = "Extender";

export class Wakes {
  /** By plugin, then by event. */
  readonly #plugins = new Map<string, Map<string, Wake[]>>();
  readonly #keysOf = new Map<string, NonNullable<Plugin["wakeKeys"]>>();
  readonly #onFault: (error: unknown, plugin: string) => void;

  constructor(plugins: readonly Plugin[], onFault: (error: unknown, plugin: string) => void) {
    this.#onFault = onFault;
    for (const plugin of plugins) {
      const { name, wakes = [] } = plugin;
      if (plugin.wakeKeys !== undefined) this.#keysOf.set(name, plugin.wakeKeys.bind(plugin));
      const byEvent = new Map<string, Wake[]>();
      for (const wake of wakes) {
        for (const action of wake.actions) {
          const label = eventLabel({ resource: wake.resource, action });
          byEvent.set(label, [...(byEvent.get(label) ?? []), wake]);
        }
      }
      this.#plugins.set(name, byEvent);
    }
  }

  /** The pods with these rejectors that an event with this label may concern. */
  concern(rejectors: ReadonlySet<string>, event: ClusterEvent, label: string): Concern {
    if (rejectors.size === 0 || rejectors.has(EXTENDER)) return "all";
    let concern: Concern = "none";
    for (const name of rejectors) {
      for (const { keys } of this.#plugins.get(name)?.get(label) ?? []) {
        const found = keys?.(event);
        if (found === undefined) return "all";
        concern = concern === "none" ? found : [...concern, ...found];
      }
    }
    return concern;
  }

  /** What a rejected pod waits for. */
  keysOf(pod: PodInfo, rejectors: ReadonlySet<string>): readonly string[] {
    if (this.#keysOf.size === 0) return [];
    const keys: string[] = [];
    for (const name of rejectors) keys.push(...(this.#keysOf.get(name)?.(pod) ?? []));
    return keys;
  }

  ask({ pod, rejectors, pending }: Rejected, event: ClusterEvent, label = eventLabel(event)): Answer {
    if (rejectors.size === 0) return "queue";
    let answer: Answer = rejectors.has(EXTENDER) ? "queue" : "skip";
    for (const name of rejectors) {
      for (const wake of this.#plugins.get(name)?.get(label) ?? []) {
        if (this.#hint(wake, pod, event, name) === "skip") continue;
        if (pending.has(name)) return "at once";
        answer = "queue";
      }
    }
    return answer;
  }

  #hint(wake: Wake, pod: PodInfo, event: ClusterEvent, plugin: string): "queue" | "skip" {
    if (wake.hint === undefined) return "queue";
    try {
      return wake.hint(pod, event);
    } catch (error) {
      this.#onFault(error, plugin);
      return "queue";
    }
  }
}

/** The first event that is worth another attempt, with its answer; an answer "at once" goes first. */
export function firstAnswer(
  events: readonly ClusterEvent[],
  ask: (event: ClusterEvent) => Answer,
): [Answer, ClusterEvent | undefined] {
  let first: [Answer, ClusterEvent | undefined] = ["skip", undefined];
  for (const event of events) {
    const answer = ask(event);
    if (answer === "at once") return [answer, event];
    if (answer === "queue" && first[1] === undefined) first = [answer, event];
  }
  return first;
}
