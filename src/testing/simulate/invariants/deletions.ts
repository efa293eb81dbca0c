/** Who may delete what. */
import type { KubeObject } from "#api";
import type { Call } from "../history.ts";
import { isEnding, nameOf, type World } from "../world.ts";
import type { Invariant } from "./invariant.ts";

export const noOrphans: Invariant = {
  name: "no-orphans",
  words: "at rest no object has owners that are all gone",
  begin: ({ world }) => ({
    missing() {
      const uids = new Set([...world.all()].map(({ metadata }) => metadata.uid));
      for (const object of world.all()) {
        const { ownerReferences = [] } = object.metadata;
        if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => uids.has(uid))) continue;
        return { says: `the owners of ${nameOf(object)} are gone`, about: nameOf(object) };
      }
      return undefined;
    },
  }),
};

export const innocent: Invariant = {
  name: "innocent",
  words: "the garbage collector deletes nothing whose owner lives",
  begin: ({ world, history }) => {
    const deletions = new Deletions("generic-garbage-collector");
    return {
      committed({ object, previous }) {
        const ended = object === undefined ? previous : object;
        if (ended === undefined || previous === undefined || isEnding(previous)) return undefined;
        if (object !== undefined && !isEnding(object)) return undefined;
        if (!deletions.has(history.calls, ended)) return undefined;
        const owner = livingOwner(world, ended);
        if (owner === undefined) return undefined;
        return { says: `${nameOf(ended)} was collected, but ${nameOf(owner)} lives`, about: nameOf(ended) };
      },
    };
  },
};

export const seenBefore: Invariant = {
  name: "seen-before",
  words: "no component deletes an object that it has never seen",
  begin: ({ cluster }) => ({
    answered({ method, component, actor, about, answer }) {
      const object = answer?.object;
      if (method !== "DELETE" || about.name === "" || component === "user" || (answer?.status ?? 500) >= 300)
        return undefined;
      const uid = (object as { details?: { uid?: string } } | undefined)?.details?.uid ?? object?.metadata?.uid;
      if (uid === undefined || cluster.network.hasSeen(component, uid)) return undefined;
      const name = `${about.resource} ${about.namespace}/${about.name}`;
      return { says: `${actor} has deleted ${name}, which it had never seen`, about: name };
    },
  }),
};

function livingOwner(world: World, { metadata }: KubeObject): KubeObject | undefined {
  for (const { uid } of metadata.ownerReferences ?? []) {
    const owner = world.withUid(uid);
    if (owner !== undefined && !isEnding(owner)) return owner;
  }
  return undefined;
}

/** Deletions by one actor that are under way, without looking through all calls each time. */
class Deletions {
  readonly #actor: string;
  #open: Call[] = [];
  #read = 0;

  constructor(actor: string) {
    this.#actor = actor;
  }

  has(calls: readonly Call[], { metadata }: KubeObject): boolean {
    for (; this.#read < calls.length; this.#read++) {
      const call = calls[this.#read];
      if (call?.method === "DELETE" && call.actor === this.#actor) this.#open.push(call);
    }
    this.#open = this.#open.filter(({ answer }) => answer === undefined);
    const { name, namespace = "" } = metadata;
    return this.#open.some(({ about }) => about.name === name && about.namespace === namespace);
  }
}
