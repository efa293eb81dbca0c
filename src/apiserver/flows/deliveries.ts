/**
 * Who was told of a write: one record for each, not one for each watcher.
 *
 * 1. All watchers of a revision are told in the turn in which it comes: what has been noted when another revision
 *    comes, or the turn ends, is all.
 * 2. Of many, the first are named and the others counted.
 */
import { actorOf, type Recorder, type Written } from "#flows";
import type { Resource } from "../rest/resource.ts";

const MAX_NAMED = 16;

interface Told {
  readonly resource: Resource;
  readonly key: string;
  readonly revision: number;
  readonly change: Written["change"];
  readonly to: string[];
  count: number;
}

export class Deliveries {
  readonly #recorder: Recorder;
  readonly #now: () => number;
  #told: Told | undefined;
  readonly #flush = () => this.#record();

  constructor(recorder: Recorder, now: () => number) {
    this.#recorder = recorder;
    this.#now = now;
  }

  /** To be told of each event that goes to one watcher. */
  to(user: string, userAgent: string): (resource: Resource, change: string, key: string, revision: number) => void {
    const known = actorOf(user, userAgent);
    // Who does not say what they are is not told of by name: records are read by others.
    const name = known === user && !user.startsWith("system:") ? "a watcher" : known;
    return (resource, change, key, revision) => {
      let told = this.#told;
      if (told === undefined || told.revision !== revision) {
        if (told === undefined) queueMicrotask(this.#flush);
        else this.#record();
        told = { resource, key, revision, change: change as Told["change"], to: [], count: 0 };
        this.#told = told;
      }
      told.count += 1;
      if (told.to.length < MAX_NAMED && !told.to.includes(name)) told.to.push(name);
    };
  }

  #record(): void {
    const told = this.#told;
    if (told === undefined) return;
    this.#told = undefined;
    const { resource, key, revision, change, to, count } = told;
    const { group, resource: plural } = resource.groupResource;
    const suffix = key.slice(resource.cache.prefix.length);
    const slash = suffix.indexOf("/");
    this.#recorder.delivery({
      type: "delivery",
      at: this.#now(),
      resource: group === "" ? plural : `${group}/${plural}`,
      namespace: slash === -1 ? "" : suffix.slice(0, slash),
      name: suffix.slice(slash + 1),
      revision,
      change,
      to,
      watchers: count,
    });
  }
}
