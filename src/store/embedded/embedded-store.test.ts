import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { realClock } from "#base";
import { describeStore } from "#store/testing";
import type { Store } from "../model/store.ts";
import { openEmbeddedStore } from "./open.ts";

const root = mkdtempSync(join(tmpdir(), "embedded-contract-"));
const dirs = new Map<Store, string>();
let opened = 0;

async function openAt(dir: string): Promise<Store> {
  const store = await openEmbeddedStore({ dir, clock: realClock() });
  dirs.set(store, dir);
  return store;
}

describeStore("embedded", {
  open: () => openAt(join(root, `${opened++}`)),
  close: (store) => store.close(),
  async reopen(store) {
    const dir = dirs.get(store);
    if (dir === undefined) throw new Error("Only stores that were opened here can be reopened.");
    await store.close();
    return openAt(dir);
  },
  property: { numRuns: 30 },
});

afterAll(() => rmSync(root, { recursive: true }));
