/**
 * Writes that are applied at most once, and acknowledged only if they were: what is done about a write whose answer got
 * lost, with its leader or its connection.
 *
 *     write in doubt ──► fence ──► history since the write was sent ──► applied · not applied: again · unknown
 *
 * 1. Every write also compares the fence, one key of the store's own. Raising the fence makes all writes fail that were
 *    sent before and have not been applied yet, wherever they still wait. So once the fence is raised, the history up
 *    to it says for good whether a write was applied; it is sent again only if not.
 * 2. A creation is recognized by its value, which holds a uid of its own. Another client may have made an update or a
 *    deletion that looks the same: then only its own answer counts, and without one the write fails as `maybeApplied`.
 * 3. All servers on an etcd share the fence. A write that another's fence refused changed nothing, and is sent again.
 * 4. Writes in doubt at the same time share a fence and a reading of the history.
 */

import { childController } from "#base";
import { isStoreError } from "../model/errors.ts";
import type { Change, Revision } from "../model/store.ts";
import type { Attempted, Connection } from "./connection.ts";
import { follow } from "./feed.ts";
import { FENCE_KEY } from "./keys.ts";
import type { Message, Request } from "./rpc.ts";

const MOD_REVISION = 2;

export interface Swap {
  readonly key: Buffer;
  /** What has to be true of the key. */
  readonly compare: Request<"Compare">;
  readonly write: Request<"RequestOp">;
  /** Whether a change of the key looks like this write: 2. */
  readonly isLike: (change: Change) => boolean;
  /** Whether no other write can look like it. */
  readonly isUnique: boolean;
}

export type SwapAnswer =
  | { readonly succeeded: true; readonly revision: Revision }
  | { readonly succeeded: false; readonly current: Message<"KeyValue"> | undefined };

/** What the history says of a write that can no longer be applied. */
type Verdict =
  | { readonly kind: "applied"; readonly revision: Revision }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" };

type Settled = Verdict | { readonly answer: Message<"TxnResponse"> };

interface Doubt {
  readonly swap: Swap;
  /** It was not applied up to here. */
  readonly after: Revision;
  readonly deadline: number;
  readonly settle: (verdict: Verdict) => void;
  readonly fail: (error: unknown) => void;
}

export class Writes {
  readonly #connection: Connection;
  /** The revision of the fence, as far as this store knows. 0: there is none. */
  #fence: Revision = 0;
  #doubts: Doubt[] = [];
  #settling = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async swap(swap: Swap, deadline: number): Promise<SwapAnswer> {
    for (;;) {
      const fence = this.#fence;
      const after = this.#connection.newest;
      const attempted = await this.#connection.attempt(this.#connection.rpc.txn, request(swap, fence), deadline);
      const answer = await this.#settled(swap, fence, after, attempted, deadline);
      if (answer !== undefined) return answer;
    }
  }

  /** Undefined: it was not applied and never will be. */
  async #settled(
    swap: Swap,
    fence: Revision,
    after: Revision,
    attempted: Attempted<Message<"TxnResponse">>,
    deadline: number,
  ): Promise<SwapAnswer | undefined> {
    if ("answer" in attempted) return this.#answerOf(attempted.answer, fence);
    const late = attempted.late.then((answer) => (answer === undefined ? undefined : { answer }));
    try {
      // Its own answer may still come, and is worth most.
      const verdict = this.#verdict(swap, after, deadline);
      const own = late.then((answer): Promise<Settled> | Settled => answer ?? verdict);
      const first = await Promise.race<Settled>([own, verdict]);
      if ("answer" in first) {
        verdict.catch(() => {});
        return this.#answerOf(first.answer, fence);
      }
      if (first.kind === "applied") return { succeeded: true, revision: first.revision };
      if (first.kind === "absent") return undefined;
      const last = await late;
      if (last === undefined) throw this.#connection.unavailable(true);
      return this.#answerOf(last.answer, fence);
    } finally {
      attempted.giveUp();
    }
  }

  #answerOf({ succeeded, header, responses }: Message<"TxnResponse">, sentFence: Revision): SwapAnswer | undefined {
    if (succeeded) return { succeeded, revision: Number(header?.revision) };
    const fence = Number(responses[1]?.range?.kvs[0]?.modRevision ?? 0);
    if (fence !== sentFence) {
      this.#fence = Math.max(this.#fence, fence);
      return undefined;
    }
    return { succeeded, current: responses[0]?.range?.kvs[0] };
  }

  #verdict(swap: Swap, after: Revision, deadline: number): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const { clock } = this.#connection;
    const timer = clock.timer(deadline - clock.monotonic(), () => reject(this.#connection.unavailable(true)));
    this.#doubts.push({ swap, after, deadline, settle: resolve, fail: reject });
    if (!this.#settling) {
      this.#settling = true;
      this.#settleAll().catch(reject);
    }
    return promise.finally(() => timer.cancel());
  }

  async #settleAll(): Promise<void> {
    while (this.#doubts.length > 0) {
      const round = this.#doubts.splice(0);
      const deadline = Math.max(...round.map((doubt) => doubt.deadline));
      try {
        const fence = await this.#raiseFence(deadline);
        const changes = await this.#history(round, fence, deadline);
        for (const { swap, settle } of round) settle(verdictOf(swap, changes.get(swap.key.toString()) ?? []));
      } catch (error) {
        // The writes are as much in doubt as before.
        const isTold = !isStoreError(error) || error.maybeApplied;
        for (const { fail } of round) fail(isTold ? error : this.#connection.unavailable(true));
      }
    }
    // In the same turn as the last look at the doubts: the next one starts a round of its own.
    this.#settling = false;
  }

  /** A fence that was raised twice is as good: this write may be repeated. */
  async #raiseFence(deadline: number): Promise<Revision> {
    const { rpc } = this.#connection;
    for (;;) {
      const attempted = await this.#connection.attempt(rpc.put, { key: FENCE_KEY, value: EMPTY }, deadline);
      if (!("answer" in attempted)) {
        attempted.giveUp();
        continue;
      }
      const revision = Number(attempted.answer.header?.revision);
      this.#fence = Math.max(this.#fence, revision);
      return revision;
    }
  }

  /** The changes to the round's keys since their writes were sent, by key. */
  async #history(round: readonly Doubt[], fence: Revision, deadline: number): Promise<ReadonlyMap<string, Change[]>> {
    const found = new Map(round.map(({ swap }) => [swap.key.toString(), [] as Change[]]));
    const after = Math.min(...round.map((doubt) => doubt.after));
    const { clock, signal } = this.#connection;
    using reading = childController(signal);
    const late = this.#connection.unavailable(true);
    const timer = clock.timer(deadline - clock.monotonic(), () => reading.abort(late));
    try {
      for await (const batch of follow(this.#connection, after, reading.signal)) {
        for (const change of batch.changes) found.get(change.key)?.push(change);
        if (batch.revision >= fence) break;
      }
    } finally {
      timer.cancel();
    }
    return found;
  }
}

const EMPTY = Buffer.alloc(0);

function request({ key, compare, write }: Swap, fence: Revision): Request<"TxnRequest"> {
  return {
    compare: [compare, { key: FENCE_KEY, target: MOD_REVISION, modRevision: fence }],
    success: [write],
    failure: [{ range: { key } }, { range: { key: FENCE_KEY } }],
  };
}

/** `changes`: all of its key that could be this write. */
export function verdictOf(
  { isLike, isUnique }: Pick<Swap, "isLike" | "isUnique">,
  changes: readonly Change[],
): Verdict {
  const alike = changes.find(isLike);
  if (alike === undefined) return { kind: "absent" };
  return isUnique ? { kind: "applied", revision: alike.revision } : { kind: "unknown" };
}
