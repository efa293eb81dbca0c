/**
 * The contract of store.ts as a suite that every backend passes: `describeStore("memory", { open, close })`.
 *
 * 1. Tests share one store and may find it full of other keys; each writes below a prefix of its own.
 * 2. No test depends on how fast the backend is; nothing else writes to it while the suite runs.
 */

import { afterAll, beforeAll, describe, it } from "vitest";
import type { Store } from "../model/store.ts";
import { describeCompaction } from "./contract-compaction.ts";
import { describeLifecycle } from "./contract-lifecycle.ts";
import { describeReads } from "./contract-reads.ts";
import { describeWatch } from "./contract-watch.ts";
import { describeWrites } from "./contract-writes.ts";
import { storeProperty } from "./property.ts";
import type { StoreHarness } from "./subject.ts";

export function describeStore(name: string, harness: StoreHarness): void {
  describe(name, () => {
    let opened: Store | undefined;
    beforeAll(async () => {
      opened = await harness.open();
    });
    afterAll(async () => {
      if (opened !== undefined) await harness.close(opened);
    });
    const subject = (): Store => {
      if (opened === undefined) throw new Error("The store has not been opened.");
      return opened;
    };

    describeWrites(subject);
    describeReads(subject);
    describeWatch(subject);
    describeCompaction(subject);
    describeLifecycle(harness);
    it("behaves like the model in random sequences", () => storeProperty(subject(), harness.property), 120_000);
  });
}
