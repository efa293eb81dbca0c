/**
 * Pods that policies speak of, as sets of addresses that change with the Pods.
 *
 * A group is made when a rule first asks for it and is kept as Pods and Namespaces change: a changed Pod costs one look for each group, not one
 * for each pair of Pods.
 */
import { type LabelSelector, type Labels, matcherOfSelector } from "#api";
import type { PolicyPod } from "./pods.ts";

export interface GroupQuestion {
  /** Only Pods of this Namespace; otherwise of those that the selector fits. */
  readonly namespace?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
  /** Pods that have such a port, each with its number: `address . protocol . port`. */
  readonly port?: { readonly name: string; readonly protocol: string };
}

export interface Group {
  readonly key: string;
  readonly question: GroupQuestion;
  elements(): ReadonlySet<string>;
}

interface Kept extends Group {
  readonly matches: (pod: PolicyPod) => boolean;
  readonly count: Map<string, number>;
}

export class PolicyGroups {
  readonly #pods = new Map<string, PolicyPod>();
  readonly #groups = new Map<string, Kept>();
  #namespaces: ReadonlyMap<string, Labels> = new Map();

  group(question: GroupQuestion): Group {
    const key = keyOf(question);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const count = new Map<string, number>();
    const elements = () => new Set(count.keys());
    const group: Kept = { key, question, matches: this.#matcher(question), count, elements };
    this.#groups.set(key, group);
    for (const pod of this.#pods.values()) enter(group, pod, 1);
    return group;
  }

  /** Those that no rule asks for any more. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#groups.keys()) if (!keys.has(key)) this.#groups.delete(key);
  }

  pods(): IterableIterator<PolicyPod> {
    return this.#pods.values();
  }

  put(key: string, pod: PolicyPod | undefined): void {
    const old = this.#pods.get(key);
    for (const group of this.#groups.values()) {
      if (old !== undefined) enter(group, old, -1);
      if (pod !== undefined) enter(group, pod, 1);
    }
    if (pod === undefined) this.#pods.delete(key);
    else this.#pods.set(key, pod);
  }

  /** Labels of Namespaces decide about many Pods at once: all groups are made anew. */
  setNamespaces(namespaces: ReadonlyMap<string, Labels>): void {
    this.#namespaces = namespaces;
    for (const group of this.#groups.values()) {
      group.count.clear();
      for (const pod of this.#pods.values()) enter(group, pod, 1);
    }
  }

  #matcher({ namespace, namespaceSelector, podSelector }: GroupQuestion): (pod: PolicyPod) => boolean {
    const pods = matcherOfSelector(podSelector ?? {});
    const namespaces = matcherOfSelector(namespaceSelector ?? {});
    return (pod) => {
      const inside =
        namespace === undefined ? namespaces.matches(this.#namespaces.get(pod.namespace)) : pod.namespace === namespace;
      return inside && pods.matches(pod.labels);
    };
  }
}

function enter({ matches, count, question: { port } }: Kept, pod: PolicyPod, by: 1 | -1): void {
  if (!matches(pod)) return;
  for (const element of elementsOf(pod, port)) {
    const now = (count.get(element) ?? 0) + by;
    if (now <= 0) count.delete(element);
    else count.set(element, now);
  }
}

function elementsOf({ addresses, ports }: PolicyPod, port: GroupQuestion["port"]): string[] {
  if (port === undefined) return [...addresses];
  const numbers = ports.filter(({ name, protocol }) => name === port.name && protocol === port.protocol);
  return addresses.flatMap((address) =>
    numbers.map((each) => `${address} . ${each.protocol.toLowerCase()} . ${each.port}`),
  );
}

function keyOf({ namespace, namespaceSelector, podSelector, port }: GroupQuestion): string {
  const where = namespace === undefined ? `{${matcherOfSelector(namespaceSelector ?? {})}}` : namespace;
  const what = `${where} {${matcherOfSelector(podSelector ?? {})}}`;
  return port === undefined ? what : `${what} ${port.name}/${port.protocol}`;
}
