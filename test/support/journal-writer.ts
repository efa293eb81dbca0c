/**
 * A client that creates, patches and deletes ConfigMaps of its own, one request after the other, and keeps a journal of
 * what the server has acknowledged.
 *
 * 1. When its connection breaks, one write at most is in doubt: it may have happened or not, and `settle` finds out.
 * 2. Everything else must be exactly as acknowledged.
 */
import type { Random } from "#base";
import { type Api, type Body, type Method, Refused } from "./api.ts";
import { revisionOf, type Seen } from "./follower.ts";

interface Doubt {
  readonly name: string;
  readonly before: Seen | undefined;
  /** Undefined: a deletion. */
  readonly data: Seen["data"] | undefined;
}

const MOST_OBJECTS = 12;

export class JournalWriter {
  readonly name: string;
  /** The revisions that the server has named in its answers, all of them, in order. */
  readonly revisions: number[] = [];
  readonly #api: Api;
  readonly #path: string;
  readonly #random: Random;
  readonly #objects = new Map<string, Seen>();
  #doubt: Doubt | undefined;
  #count = 0;

  constructor(name: string, api: Api, path: string, random: Random) {
    this.name = name;
    this.#api = api;
    this.#path = path;
    this.#random = random;
  }

  /** What must be there. */
  get objects(): ReadonlyMap<string, Seen> {
    return this.#objects;
  }

  /** Writes until its connection breaks. Rejects only where the server was wrong. */
  async write(acknowledged: () => void): Promise<void> {
    for (;;) {
      try {
        await this.#writeOne();
      } catch (error) {
        if (error instanceof Refused) throw error;
        return;
      }
      this.#doubt = undefined;
      acknowledged();
    }
  }

  /** Takes over what became of the write in doubt; says what is wrong with it if that is neither of the two. */
  settle(found: ReadonlyMap<string, Seen>): string | undefined {
    if (this.#doubt === undefined) return undefined;
    const { name, before, data } = this.#doubt;
    const now = found.get(name);
    this.#doubt = undefined;
    if (now === undefined ? before === undefined : now.revision === before?.revision) return undefined;
    if (now === undefined ? data !== undefined : JSON.stringify(now.data) !== JSON.stringify(data)) {
      return `${name}: ${JSON.stringify({ now, before, data })}`;
    }
    if (now === undefined) this.#objects.delete(name);
    else this.#objects.set(name, now);
    return undefined;
  }

  async #writeOne(): Promise<void> {
    const names = [...this.#objects.keys()];
    const dice = this.#random.next();
    if (names.length === 0 || (dice < 0.4 && names.length < MOST_OBJECTS)) return this.#create();
    const name = this.#random.pick(names);
    return dice < 0.8 ? this.#patch(name) : this.#delete(name);
  }

  async #create(): Promise<void> {
    const name = `${this.name}-${++this.#count}`;
    const data = { count: String(this.#count), text: this.#random.string(200) };
    const metadata = { name, labels: { writer: this.name } };
    await this.#send("POST", "", name, data, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  }

  async #patch(name: string): Promise<void> {
    const data = { ...this.#objects.get(name)?.data, count: String(++this.#count) };
    await this.#send("PATCH", `/${name}`, name, data, { data: { count: data.count } });
  }

  async #delete(name: string): Promise<void> {
    await this.#send("DELETE", `/${name}`, name, undefined);
  }

  async #send(
    method: Method,
    suffix: string,
    name: string,
    data: Seen["data"] | undefined,
    body?: object,
  ): Promise<void> {
    this.#doubt = { name, before: this.#objects.get(name), data };
    const answer: Body = await this.#api.ok(method, this.#path + suffix, body);
    if (data === undefined) {
      this.#objects.delete(name);
      return;
    }
    const revision = revisionOf(answer);
    this.revisions.push(revision);
    this.#objects.set(name, { revision, data });
  }
}
