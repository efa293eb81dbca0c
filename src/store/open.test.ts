import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { realClock } from "#base";
import { openStore } from "./index.ts";

describe("openStore", () => {
  it("opens a memory store with the history it is told to keep", async () => {
    const store = await openStore({ kind: "memory", clock: realClock(), history: { maxChanges: 1 } });
    for (const key of ["/a", "/b", "/c"]) await store.create(key, Buffer.from("x"));
    await expect(store.list("", { revision: 1 })).rejects.toMatchObject({ code: "Compacted", compactRevision: 2 });
    await store.close();
  });

  it("loads no backend that is not used", async () => {
    const script = `
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { openStore } = await import(${JSON.stringify(import.meta.resolve("./index.ts"))});
      const clock = { now: () => 0, monotonic: () => 0 };
      await (await openStore({ kind: "memory", clock })).close();
      console.log(loaded.join("\\n"));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    expect(stdout).toContain("/store/memory/store.ts");
    for (const unused of ["/lmdb/", "grpc", "/store/embedded/", "/store/etcd/"]) expect(stdout).not.toContain(unused);
  });
});
