/**
 * A watcher that rebuilds a collection from its events, as informers do: list once, then watch; resume from the last
 * resourceVersion after the connection broke; list again only when told that it is too old.
 *
 * 1. It fails on an event that repeats, goes back, or does not fit what it knows: exactly once, in order.
 * 2. `state` is what a list as of `revision` would show, `seen` every revision that came as an event.
 */
import { type Api, type Body, Refused, type WatchLine } from "./api.ts";

/** What is compared of an object. */
export interface Seen {
  readonly revision: number;
  readonly data: Readonly<Record<string, string>>;
}

export class Follower {
  readonly state = new Map<string, Seen>();
  readonly seen = new Set<number>();
  /** Revisions between which it was told that it is too old: there it has no events. */
  readonly gaps: { readonly after: number; readonly upTo: number }[] = [];
  revision = 0;
  /** The list that `state` follows. */
  readonly path: string;
  readonly #api: Api;
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();

  constructor(api: Api, path: string, labelSelector = "") {
    this.#api = api;
    this.path = `${path}?labelSelector=${encodeURIComponent(labelSelector)}`;
  }

  /** Follows until the connection breaks or the server ends the watch. Rejects only where the server was wrong. */
  async follow(): Promise<void> {
    if (this.revision === 0) await this.#list();
    while (await this.#watch()) await this.#list();
  }

  /** Resolves when an event of this revision, or of a later one, has come. */
  reached(revision: number): Promise<void> {
    if (this.revision >= revision) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ revision, resolve }));
  }

  /** Whether the watch was told to start again with a list. */
  async #watch(): Promise<boolean> {
    const lines = this.#api.watch(`${this.path}&watch=true&resourceVersion=${this.revision}`);
    for (;;) {
      const next = await lines.next().catch(brokenConnection);
      if (next === undefined || next.done) return false;
      if (isTooOld(next.value)) return true;
      this.#apply(next.value);
    }
  }

  async #list(): Promise<void> {
    const list = await this.#api.ok("GET", this.path);
    const revision = revisionOf(list);
    if (revision < this.revision) throw new Error(`a list of ${revision} after events of ${this.revision}`);
    this.state.clear();
    for (const [name, seen] of stateOf(list)) this.state.set(name, seen);
    this.gaps.push({ after: this.revision, upTo: revision });
    this.#advance(revision);
  }

  #apply(line: WatchLine): void {
    const { type, object } = line;
    if (!["ADDED", "MODIFIED", "DELETED"].includes(type))
      throw new Error(`an unexpected event: ${JSON.stringify(line)}`);
    const name = object.metadata?.name ?? "";
    const revision = revisionOf(object);
    const known = this.state.has(name);
    if (revision <= this.revision || (type !== "ADDED") !== known) {
      throw new Error(`${JSON.stringify(line)} after ${this.revision}, where it was ${known ? "known" : "unknown"}`);
    }
    if (type === "DELETED") this.state.delete(name);
    else this.state.set(name, seenOf(object));
    this.seen.add(revision);
    this.#advance(revision);
  }

  #advance(revision: number): void {
    this.revision = revision;
    for (const waiter of this.#waiting) {
      if (waiter.revision > revision) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }
}

export function revisionOf({ metadata }: Body): number {
  const revision = Number(metadata?.resourceVersion);
  if (!(revision > 0)) throw new Error(`no resourceVersion: ${JSON.stringify(metadata)}`);
  return revision;
}

/** The objects of a list by name. */
export function stateOf(list: Body): Map<string, Seen> {
  return new Map((list.items ?? []).map((item) => [item.metadata?.name ?? "", seenOf(item)]));
}

function seenOf(object: Body): Seen {
  return { revision: revisionOf(object), data: object.data ?? {} };
}

function isTooOld({ type, object }: WatchLine): boolean {
  return type === "ERROR" && object.code === 410 && object.reason === "Expired";
}

function brokenConnection(error: unknown): undefined {
  if (error instanceof Refused || error instanceof SyntaxError) throw error;
}
