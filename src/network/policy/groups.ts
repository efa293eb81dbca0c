/**
 * Groups of Pods that policies select, as sets of addresses that are updated with the Pods.
 *
 * A group is created when a rule first needs it and updated as Pods and Namespaces change: a changed Pod costs one
 * match for each group, not one for each pair of Pods.
 */
import { type LabelSelector, type Labels, matcherOfSelector } from "#api";
import type { PolicyPod } from "./pods.ts";

export interface GroupSelector {
  /** Only Pods of this Namespace; if undefined, of the Namespaces that `namespaceSelector` matches. */
  readonly namespace?: string | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly podSelector?: LabelSelector | undefined;
  /** Only Pods with a container port of this name; elements are then `address . protocol . port`. */
  readonly port?: { readonly name: string; readonly protocol: string };
}

export interface Group {
  readonly key: string;
  readonly selector: GroupSelector;
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

  group(selector: GroupSelector): Group {
    const key = keyOf(selector);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const count = new Map<string, number>();
    const elements = () => new Set(count.keys());
    const group: Kept = { key, selector, matches: this.#matcher(selector), count, elements };
    this.#groups.set(key, group);
    for (const pod of this.#pods.values()) enter(group, pod, 1);
    return group;
  }

  /** Drops the groups that no rule needs any more. */
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

  /** A change of Namespace labels may concern many Pods: all groups are filled again. */
  setNamespaces(namespaces: ReadonlyMap<string, Labels>): void {
    this.#namespaces = namespaces;
    for (const group of this.#groups.values()) {
      group.count.clear();
      for (const pod of this.#pods.values()) enter(group, pod, 1);
    }
  }

  #matcher({ namespace, namespaceSelector, podSelector }: GroupSelector): (pod: PolicyPod) => boolean {
    const pods = matcherOfSelector(podSelector ?? {});
    const namespaces = matcherOfSelector(namespaceSelector ?? {});
    return (pod) => {
      const inside =
        namespace === undefined ? namespaces.matches(this.#namespaces.get(pod.namespace)) : pod.namespace === namespace;
      return inside && pods.matches(pod.labels);
    };
  }
}

function enter({ matches, count, selector: { port } }: Kept, pod: PolicyPod, by: 1 | -1): void {
  if (!matches(pod)) return;
  for (const element of elementsOf(pod, port)) {
    const now = (count.get(element) ?? 0) + by;
    if (now <= 0) count.delete(element);
    else count.set(element, now);
  }
}

function elementsOf({ addresses, ports }: PolicyPod, port: GroupSelector["port"]): string[] {
  if (port === undefined) return [...addresses];
  const numbers = ports.filter(({ name, protocol }) => name === port.name && protocol === port.protocol);
  return addresses.flatMap((address) =>
    numbers.map((each) => `${address} . ${each.protocol.toLowerCase()} . ${each.port}`),
  );
}

function keyOf({ namespace, namespaceSelector, podSelector, port }: GroupSelector): string {
  const where = namespace === undefined ? `{${matcherOfSelector(namespaceSelector ?? {})}}` : namespace;
  const what = `${where} {${matcherOfSelector(podSelector ?? {})}}`;
  return port === undefined ? what : `${what} ${port.name}/${port.protocol}`;
}
