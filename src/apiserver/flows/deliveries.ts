/**
 * Records which watchers a write was delivered to: one record for each write, not for each watcher.
 *
 * 1. A revision is delivered to all watchers in one turn: the record is complete when another revision comes, or the
 *    turn ends.
 * 2. The first watchers are named, the others counted.
 */
import { actorOf, type Recorder, type Written } from "#flows";
import type { Resource } from "../rest/resource.ts";

const MAX_NAMED = 16;

interface Delivery {
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
  #delivery: Delivery | undefined;
  readonly #flush = () => this.#record();

  constructor(recorder: Recorder, now: () => number) {
    this.#recorder = recorder;
    this.#now = now;
  }

  /** Returns what to call with each event that is delivered to one watcher. */
  to(user: string, userAgent: string): (resource: Resource, change: string, key: string, revision: number) => void {
    const known = actorOf(user, userAgent);
    // A client without a user agent is not named: other users read the records.
    const name = known === user && !user.startsWith("system:") ? "a watcher" : known;
    return (resource, change, key, revision) => {
      let delivery = this.#delivery;
      if (delivery === undefined || delivery.revision !== revision) {
        if (delivery === undefined) queueMicrotask(this.#flush);
        else this.#record();
        delivery = { resource, key, revision, change: change as Delivery["change"], to: [], count: 0 };
        this.#delivery = delivery;
      }
      delivery.count += 1;
      if (delivery.to.length < MAX_NAMED && !delivery.to.includes(name)) delivery.to.push(name);
    };
  }

  #record(): void {
    const delivery = this.#delivery;
    if (delivery === undefined) return;
    this.#delivery = undefined;
    const { resource, key, revision, change, to, count } = delivery;
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
