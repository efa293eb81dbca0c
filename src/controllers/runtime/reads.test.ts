import { describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { ObjectCache } from "../../client/informer/object-cache.ts";
import { Reads, readWords } from "./reads.ts";

function cacheOf(...names: readonly string[]): ObjectCache<core.Pod> {
  const cache = new ObjectCache<core.Pod>();
  for (const [at, name] of names.entries())
    cache.set({ metadata: { name, namespace: "default", resourceVersion: String(at + 1) } });
  return cache;
}

describe("what a reconcile read", () => {
  it("is noted while it runs, and not before or after", async () => {
    const reads = new Reads();
    const cache = reads.of(kinds.Pod, cacheOf("a", "b"));
    cache.get("default/a");
    const { result, read } = await reads.during(() => cache.get("default/b")?.metadata?.name);
    cache.get("default/a");
    expect(result).toBe("b");
    expect(readWords(read, "default/x")).toEqual(["Pod/b@2"]);
  });

  it.each<[string, (cache: ReturnType<typeof cacheOf>) => unknown, string[]]>([
    ["nothing", () => undefined, []],
    ["one twice", (cache) => [cache.get("default/a"), cache.get("default/a")], ["Pod/a@1"]],
    ["one that is not there", (cache) => cache.get("default/z"), ["no Pod/z"]],
    ["one of elsewhere that is not there", (cache) => cache.get("other/z"), ["no Pod/other/z"]],
    ["a list", (cache) => cache.list(), ["6 Pods@…6"]],
    ["a namespace", (cache) => cache.inNamespace("default"), ["6 Pods@…6"]],
    ["an index", (cache) => cache.index("name", ({ metadata }) => [metadata?.name ?? ""])("c"), ["Pod/c@3"]],
    ["an index without a match", (cache) => cache.index("none", () => [])("c"), []],
  ])("is told in few words: %s", async (_, work, want) => {
    const reads = new Reads();
    const cache = reads.of(kinds.Pod, cacheOf("a", "b", "c", "d", "e", "f")) as ReturnType<typeof cacheOf>;
    const { read } = await reads.during(() => work(cache));
    expect(readWords(read, "default/x")).toEqual(want);
  });

  it("is its own where several wait at once, until each has decided", async () => {
    const reads = new Reads();
    const cache = reads.of(kinds.Pod, cacheOf("a", "b"));
    const { promise, resolve } = Promise.withResolvers<void>();
    const left: Promise<unknown>[] = [];
    const reconcile = async (name: string) => {
      left.push(promise.then(() => cache.get("default/late")));
      await Promise.resolve();
      cache.get(`default/${name}`);
    };
    const [a, b] = await Promise.all(["a", "b"].map((name) => reads.during(() => reconcile(name))));
    resolve();
    await Promise.all(left);
    expect(readWords(a?.read ?? [], "default/x")).toEqual(["Pod/a@1"]);
    expect(readWords(b?.read ?? [], "default/x")).toEqual(["Pod/b@2"]);
  });

  it("is bounded, however much that was", async () => {
    const reads = new Reads();
    const cache = reads.of(kinds.Pod, cacheOf("a"));
    const { read } = await reads.during(() => {
      for (let at = 0; at < 1000; at++) cache.get(`default/pod-${at}`);
    });
    const words = readWords(read, "default/x");
    expect(words).toHaveLength(13);
    expect(words.at(-1)).toBe("12 more");
  });

  it("ends with a reconcile that fails", async () => {
    const reads = new Reads();
    const cache = reads.of(kinds.Pod, cacheOf("a"));
    const fails = () => {
      throw new Error("x");
    };
    await expect(reads.during(fails)).rejects.toThrow("x");
    cache.get("default/a");
    expect((await reads.during(() => 0)).read).toEqual([]);
  });
});
