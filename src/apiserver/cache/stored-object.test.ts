import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { atRevision, encodeForStore, StoredObject } from "./stored-object.ts";

const object = {
  metadata: { name: "a", resourceVersion: "3", labels: { metadata: '"metadata":{' } },
  apiVersion: "v1",
  kind: "ConfigMap",
  data: { text: 'a "metadata":{} in it', umlaut: "ü" },
} as KubeObject;
const stored = new StoredObject({ key: "/k", revision: 7, value: encodeForStore(object) });
const seen = { ...object, metadata: { ...object.metadata, resourceVersion: "7" } };

describe("an object at one revision", () => {
  it("is stored without a resourceVersion, type first", () => {
    const text = encodeForStore(object).toString();
    expect(text.startsWith('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",')).toBe(true);
    expect(JSON.parse(text).metadata).not.toHaveProperty("resourceVersion");
  });

  it("is read with the revision of its write", () => {
    expect(JSON.parse(stored.line.toString())).toEqual(seen);
    expect(stored.object).toEqual(seen);
  });

  it("is an item of a list without its type", () => {
    const { kind: _kind, apiVersion: _version, ...item } = seen;
    expect(JSON.parse(`{${stored.line.subarray(stored.metadataAt)}`)).toEqual(item);
  });

  it("is made once", () => {
    expect(stored.line).toBe(stored.line);
    expect(stored.object).toBe(stored.object);
    const value = atRevision(object, 7);
    expect(new StoredObject({ key: "/k", revision: 7, value: Buffer.from("not read") }, value).object).toBe(value);
  });

  it("that was just written is not parsed while its value is at hand", () => {
    const entry = { key: "/k", revision: 7, value: encodeForStore(object) };
    const [kept, gone] = [StoredObject.written(entry, object), StoredObject.written(entry, object)];
    expect(kept.object).toEqual(seen);
    expect(kept.object.metadata.labels).toBe(object.metadata.labels);
    gone.letGo();
    expect(gone.object).toEqual(seen);
    expect(gone.object.metadata.labels).not.toBe(object.metadata.labels);
  });

  it("keeps a value that was asked for", () => {
    const asked = StoredObject.written({ key: "/k", revision: 7, value: encodeForStore(object) }, object);
    const value = asked.object;
    asked.letGo();
    expect(asked.object).toBe(value);
  });

  it("ends its line", () => {
    expect(stored.line.toString().split("\n")).toEqual([expect.stringMatching(/^\{.*\}$/), ""]);
  });

  it.each([
    { name: "parsed", from: stored },
    { name: "not parsed yet", from: new StoredObject({ key: "/k", revision: 7, value: encodeForStore(object) }) },
    {
      name: "never read",
      from: new StoredObject({ key: "/k", revision: 7, value: encodeForStore(object) }, atRevision(object, 7)),
    },
  ])("shows itself as of a later revision, $name", ({ from }) => {
    const later = from.asOf(9);
    expect([later.key, later.revision, later.object.metadata.resourceVersion]).toEqual(["/k", 9, "9"]);
    expect(JSON.parse(later.line.toString()).metadata.resourceVersion).toBe("9");
    expect(from.object.metadata.resourceVersion).toBe("7");
  });
});
