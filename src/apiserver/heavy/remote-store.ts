/** The store and the feed of a job: writes are done by the serving thread, which waits until its caches show them. */
import { type KubeObject, parseJson } from "#api";
import { silentLogger, VirtualClock } from "#base";
import type { Revision, Store, WriteOutcome } from "#store";
import { StoreFeed } from "../cache/feed.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import type { Asker } from "./asker.ts";
import { entryOf } from "./bytes.ts";
import { cut } from "./pieces.ts";

/** What a write needs of a store. */
type WritesOnly = Pick<Store, "create" | "update" | "delete">;

export function jobStore(asker: Asker): Store {
  const write = async (
    key: string,
    value: Buffer | undefined,
    object: KubeObject,
    expected: Revision | undefined,
  ): Promise<WriteOutcome> => {
    const bytes = value && new Uint8Array(value);
    const form = value && cut(object);
    const { metadata } = object;
    const question = { do: "store", key, value: bytes, form, metadata, expected } as const;
    const answer = await asker.ask(question);
    if (answer.is === "written") return { ok: true, revision: answer.revision };
    if (answer.is !== "outrun") throw new Error(`a write was answered with ${answer.is}`);
    const { current } = answer;
    asker.outdated = current?.isOutdated === true;
    return { ok: false, current: current && entryOf(current) };
  };
  const parsed = (value: Buffer) => parseJson(value.toString("utf8")) as unknown as KubeObject;
  const writes: WritesOnly = {
    create: (key, value) => write(key, value, parsed(value), undefined),
    update: (key, value, expected) => write(key, value, parsed(value), expected),
    delete: (key, expected) => write(key, undefined, asker.deleting(), expected),
  };
  return writes as Store;
}

/** The serving thread answers a write when its caches show it: nothing is waited for here. */
export class ReachedFeed extends StoreFeed {
  constructor() {
    super({ store: {} as Store, prefix: STORE_PREFIX, clock: new VirtualClock(), log: silentLogger });
  }

  override get revision(): Revision {
    return Number.MAX_SAFE_INTEGER;
  }
}
