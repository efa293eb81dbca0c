import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { builtIn, type Kind, type KubeObject } from "#api";
import { seededRandom } from "#base";
import { encodeForStore, StoredObject } from "../cache/stored-object.ts";
import { listBody } from "./list-body.ts";
import { packedList } from "./packed-list.ts";

const configMaps = builtIn.find(({ group, kind }) => group === "" && kind === "ConfigMap") as Kind;
const { goType: _, ...schema } = configMaps.schema;
const custom: Kind = { ...configMaps, schema };

let revision = 0;
function stored(name: string, text = ""): StoredObject {
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { text } } as KubeObject;
  return new StoredObject({ key: `/${name}`, revision: ++revision, value: encodeForStore(object) });
}

async function expectSame(kind: Kind, objects: readonly StoredObject[]): Promise<void> {
  const metadata = { resourceVersion: String(revision), continue: "größe" };
  const unpacked = gunzipSync(await packedList(kind, metadata, objects)).toString();
  const plain = Buffer.concat(listBody(kind, metadata, [...objects])).toString();
  // Compared here: the words of a failure would be as long as the list.
  expect(unpacked === plain).toBe(true);
}

describe("packedList says the same as listBody", () => {
  it.each([0, 1, 2, 63, 64, 65, 1000])("%i objects", async (count) => {
    const objects = Array.from({ length: count }, (_, at) => stored(`name-${at}`, "x".repeat(at % 70)));
    await expectSame(configMaps, objects);
    await expectSame(configMaps, objects);
    await expectSame(
      custom,
      objects.map(({ object }) => new StoredObject({ key: `/${object.metadata.name}`, revision: ++revision }, object)),
    );
  });

  it("names of which none begins a run, and of which each does", async () => {
    await expectSame(
      configMaps,
      Array.from({ length: 600 }, () => stored("same")),
    );
  });

  it("after changes, and for pages that begin and end anywhere", async () => {
    const random = seededRandom(19);
    const objects = Array.from({ length: 700 }, (_, at) => stored(`pod-${at}`, "text"));
    for (let round = 0; round < 60; round++) {
      const at = random.integer(objects.length);
      const change = random.integer(3);
      if (change === 0) objects[at] = stored(`pod-${at}`, `changed in ${round}`);
      if (change === 1) objects.splice(at, 1);
      if (change === 2) objects.splice(at, 0, stored(`new-${round}`));
      const from = random.integer(objects.length);
      await expectSame(configMaps, objects.slice(from, from + random.integer(300)));
      await expectSame(configMaps, objects);
    }
  });
});
