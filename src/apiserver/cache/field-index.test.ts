import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { core, KubeObject } from "#api";
import { namespace, type TestServer, testServer } from "../testing/index.ts";
import { FieldIndex } from "./field-index.ts";
import { StoredObject } from "./stored-object.ts";

const PODS = "/api/v1/namespaces/default/pods";
let server: TestServer;
beforeEach(async () => {
  server = await testServer();
  await server.request("POST", "/api/v1/namespaces", { body: namespace("default") });
});
afterEach(() => server.close());

const create = (name: string, nodeName?: string) =>
  server.request("POST", PODS, {
    body: {
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i" }], ...(nodeName !== undefined && { nodeName }) },
    },
  });
describe("a watch of one node's Pods", () => {
  it("tells those that are there, those that come, and no others", async () => {
    await create("old", "n1");
    await create("elsewhere", "n2");
    const watch = await server.watch("/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn1");
    await create("new", "n1");
    await create("other", "n2");
    await server.request("DELETE", `${PODS}/old?gracePeriodSeconds=0`);
    expect(await watch.seen()).toEqual(["ADDED old", "ADDED new", "MODIFIED old", "DELETED old"]);
    await watch.close();
  });

  it("goes on from a revision", async () => {
    const { json } = await create("first", "n1");
    const { resourceVersion } = (json as { metadata: { resourceVersion: string } }).metadata;
    await create("second", "n1");
    await create("third", "n2");
    const watch = await server.watch(
      `/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn1&resourceVersion=${resourceVersion}`,
    );
    await create("fourth", "n1");
    expect(await watch.seen()).toEqual(["ADDED second", "ADDED fourth"]);
    await watch.close();
  });
});

describe("FieldIndex", () => {
  const pod = (node: string) =>
    new StoredObject({ key: "k", revision: 1 }, { metadata: { name: "p" }, spec: { nodeName: node } } as KubeObject);
  const index = new FieldIndex<string>((object) => (object as core.Pod).spec?.nodeName ?? "");
  const leave = index.watch("a", "of a");
  index.watch("b", "of b");

  it.each<[before: string | undefined, after: string | undefined, concerned: string[], keys: string[]]>([
    [undefined, "a", ["of a"], ["a"]],
    ["a", "a", ["of a"], ["a"]],
    ["a", "b", ["of b", "of a"], ["b"]],
    ["b", "c", ["of b"], ["c"]],
    ["c", undefined, [], []],
  ])("from %s to %s", (before, after, concerned, keys) => {
    const [previous, current] = [before, after].map((node) => (node === undefined ? undefined : pod(node)));
    index.change("p", previous, current);
    expect([...index.concerned(previous, current)]).toEqual(concerned);
    expect(["a", "b", "c"].filter((value) => [...index.keys(value)].length > 0)).toEqual(keys);
  });

  it("forgets who has left", () => {
    leave();
    expect([[...index.concerned(undefined, pod("a"))], [...index.all()]]).toEqual([[], ["of b"]]);
  });
});
