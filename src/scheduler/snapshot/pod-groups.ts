/**
 * The PodGroups and their Pods, kept up to date by watch events.
 *
 * 1. A Pod may come before its group, and the other way round: a group is known while either of them exists.
 */
import type { core } from "#api";
import { objectKey } from "#client";
import { type Group, type Groups, groupKeyOf, type PodGroup } from "../framework/index.ts";

class KnownGroup implements Group {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  object: PodGroup | undefined;
  readonly pods = new Map<string, core.Pod>();

  constructor(key: string) {
    this.key = key;
    const [namespace = "", name = ""] = key.split("/");
    this.namespace = namespace;
    this.name = name;
  }
}

export class PodGroups implements Groups {
  readonly #groups = new Map<string, KnownGroup>();
  readonly #handlers: ((group: Group) => void)[] = [];

  of(pod: core.Pod): Group | undefined {
    const key = groupKeyOf(pod);
    return key === undefined ? undefined : this.#groups.get(key);
  }

  named(key: string): Group | undefined {
    return this.#groups.get(key);
  }

  onChange(handler: (group: Group) => void): void {
    this.#handlers.push(handler);
  }

  setObject(object: PodGroup): void {
    const group = this.#known(objectKey(object));
    const isNew = group.object?.metadata.uid !== object.metadata.uid;
    const isSame = !isNew && group.object?.metadata.generation === object.metadata.generation;
    group.object = object;
    // Its status is this scheduler's own.
    if (!isSame) this.#changed(group);
  }

  removeObject(object: PodGroup): void {
    const group = this.#groups.get(objectKey(object));
    if (group === undefined) return;
    group.object = undefined;
    this.#drop(group);
  }

  setPod(pod: core.Pod): void {
    const key = groupKeyOf(pod);
    if (key === undefined) return;
    const group = this.#known(key);
    const { uid = "" } = pod.metadata;
    const isNew = !group.pods.has(uid);
    group.pods.set(uid, pod);
    if (isNew) this.#changed(group);
  }

  removePod(pod: core.Pod): void {
    const group = this.#groups.get(groupKeyOf(pod) ?? "");
    if (group === undefined) return;
    group.pods.delete(pod.metadata.uid ?? "");
    this.#drop(group);
  }

  #known(key: string): KnownGroup {
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new KnownGroup(key);
      this.#groups.set(key, group);
    }
    return group;
  }

  #drop(group: KnownGroup): void {
    if (group.object === undefined && group.pods.size === 0) this.#groups.delete(group.key);
  }

  #changed(group: Group): void {
    for (const handler of this.#handlers) handler(group);
  }
}
