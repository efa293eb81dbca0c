/**
 * From the messages of a watch stream to batches of whole revisions.
 *
 * 1. A batch never holds a part of a revision: large responses come in fragments, which may be cut anywhere.
 * 2. Revisions follow each other. One that is missing is a Gap, one that was delivered before is dropped.
 */

import type { Change, Revision } from "../model/store.ts";
import { changeOf } from "./keys.ts";
import type { Message } from "./rpc.ts";

export interface FeedBatch {
  /** Whole revisions only. */
  readonly changes: readonly Change[];
  /** All changes up to here have been delivered. */
  readonly revision: Revision;
}

export class Gap extends Error {
  /** The first revision after the gap. */
  readonly revision: Revision;

  constructor(revision: Revision) {
    super(`Changes before revision ${revision} are missing.`);
    this.revision = revision;
  }
}

export class Assembly {
  /** The revision of the last change that came. */
  position: Revision;
  #unfinished: Change[] = [];

  constructor(position: Revision) {
    this.position = position;
  }

  add({ events, fragment }: Pick<Message<"WatchResponse">, "events" | "fragment">): FeedBatch | undefined {
    const changes = this.#unfinished;
    for (const event of events) {
      const change = changeOf(event);
      if (change.revision < this.position || (change.revision === this.position && changes.length === 0)) continue;
      if (change.revision > this.position + 1) throw new Gap(change.revision);
      this.position = change.revision;
      changes.push(change);
    }
    // The next fragment may continue the last revision.
    const cut = fragment ? changes.findIndex((change) => change.revision === this.position) : changes.length;
    if (cut <= 0) return undefined;
    this.#unfinished = changes.slice(cut);
    return { changes: changes.slice(0, cut), revision: fragment ? this.position - 1 : this.position };
  }
}
