/** The definitions on an API server: installed, served, and with the rules of upstream's in upstream's words. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { isStatusError, type KubeObject, kinds } from "#api";
import { Client, inProcess, type ResourceOf } from "#client";
import { type TestServer, testServer } from "../../../apiserver/testing/index.ts";
import { groupKinds } from "../objects/group-kinds.ts";
import { snapshotKinds } from "../objects/kinds.ts";
import { definitions, installDefinitions } from "./index.ts";

let server: TestServer;
let client: Client;

beforeAll(async () => {
  server = await testServer();
  const user = { name: "admin", groups: ["system:masters"] };
  client = new Client({ transport: inProcess(server.handle, user), clock: server.clock });
  await installDefinitions(client, new AbortController().signal);
});

afterAll(async () => {
  await client.close();
  await server.close();
});

type Any = ResourceOf<KubeObject>;

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

async function refusal(resource: Resource, object: object, change?: object): Promise<string> {
  const { apiVersion, kind, namespaced } = resource;
  const all = client.of(resource as unknown as Any);
  const place = namespaced ? all.in("default") : all;
  const given = { apiVersion, kind, metadata: { name: "x" }, ...object } as KubeObject;
  try {
    const made = await place.create(given);
    if (change === undefined) return "accepted";
    await place.update({ ...given, ...change, metadata: made.metadata } as KubeObject);
    return "accepted";
  } catch (error) {
    if (isStatusError(error)) return error.message;
    throw error;
  } finally {
    await place.delete("x").catch(() => undefined);
  }
}

const { VolumeSnapshot, VolumeSnapshotContent, VolumeSnapshotClass } = snapshotKinds;
const { VolumeGroupSnapshot, VolumeGroupSnapshotContent, VolumeGroupSnapshotClass } = groupKinds;
const ref = { name: "s", namespace: "default" };
const content = { driver: "example.com", deletionPolicy: "Delete", volumeSnapshotRef: ref };
const groupContent = { driver: "example.com", deletionPolicy: "Delete", volumeGroupSnapshotRef: ref };
const spec = (fields: object) => ({ spec: fields });
const byClaim = spec({ source: { persistentVolumeClaimName: "data" } });
const bySelector = spec({ source: { selector: { matchLabels: { app: "db" } } } });
const byHandle = { ...content, source: { snapshotHandle: "s1" } };
const groupClass = { driver: "example.com", deletionPolicy: "Delete", parameters: { a: "b" } };

it.each([
  ["a snapshot of a claim", VolumeSnapshot, byClaim, undefined, "accepted"],
  [
    "a snapshot of nothing",
    VolumeSnapshot,
    spec({ source: {} }),
    undefined,
    "exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set",
  ],
  [
    "a snapshot of both",
    VolumeSnapshot,
    spec({ source: { persistentVolumeClaimName: "a", volumeSnapshotContentName: "b" } }),
    undefined,
    "exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set",
  ],
  [
    "an empty class",
    VolumeSnapshot,
    spec({ source: { persistentVolumeClaimName: "a" }, volumeSnapshotClassName: "" }),
    undefined,
    "volumeSnapshotClassName must not be the empty string when set",
  ],
  [
    "another claim",
    VolumeSnapshot,
    byClaim,
    spec({ source: { persistentVolumeClaimName: "other" } }),
    "persistentVolumeClaimName is immutable",
  ],
  [
    "a content instead of a claim",
    VolumeSnapshot,
    byClaim,
    spec({ source: { volumeSnapshotContentName: "c" } }),
    "persistentVolumeClaimName is required once set",
  ],
  ["a content of a handle", VolumeSnapshotContent, spec(byHandle), undefined, "accepted"],
  [
    "a content of nothing",
    VolumeSnapshotContent,
    spec({ ...content, source: {} }),
    undefined,
    "exactly one of volumeHandle and snapshotHandle must be set",
  ],
  [
    "a content for a snapshot without namespace",
    VolumeSnapshotContent,
    spec({ ...byHandle, volumeSnapshotRef: { name: "s" } }),
    undefined,
    "both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set",
  ],
  [
    "another handle",
    VolumeSnapshotContent,
    spec(byHandle),
    spec({ ...content, source: { snapshotHandle: "s2" } }),
    "snapshotHandle is immutable",
  ],
  [
    "another mode",
    VolumeSnapshotContent,
    spec({ ...byHandle, sourceVolumeMode: "Block" }),
    spec({ ...byHandle, sourceVolumeMode: "Filesystem" }),
    "sourceVolumeMode is immutable",
  ],
  [
    "no mode any more",
    VolumeSnapshotContent,
    spec({ ...byHandle, sourceVolumeMode: "Block" }),
    spec(byHandle),
    "sourceVolumeMode is required once set",
  ],
  [
    "another policy",
    VolumeSnapshotContent,
    spec(byHandle),
    spec({ ...byHandle, deletionPolicy: "Retain" }),
    "accepted",
  ],
  [
    "an unknown policy",
    VolumeSnapshotClass,
    { driver: "example.com", deletionPolicy: "Recycle" },
    undefined,
    'Unsupported value: "Recycle"',
  ],
  ["a class without driver", VolumeSnapshotClass, { deletionPolicy: "Delete" }, undefined, "driver: Required value"],
  ["a group by selector", VolumeGroupSnapshot, bySelector, undefined, "accepted"],
  [
    "a group of nothing",
    VolumeGroupSnapshot,
    spec({ source: {} }),
    undefined,
    "exactly one of selector and volumeGroupSnapshotContentName must be set",
  ],
  [
    "another selector",
    VolumeGroupSnapshot,
    bySelector,
    spec({ source: { selector: { matchLabels: { app: "web" } } } }),
    "selector is immutable",
  ],
  [
    "other volumes of a group",
    VolumeGroupSnapshotContent,
    spec({ ...groupContent, source: { volumeHandles: ["a"] } }),
    spec({ ...groupContent, source: { volumeHandles: ["a", "b"] } }),
    "volumeHandles is immutable",
  ],
  [
    "a group for another snapshot",
    VolumeGroupSnapshotContent,
    spec({ ...groupContent, source: { volumeHandles: ["a"] } }),
    spec({ ...groupContent, source: { volumeHandles: ["a"] }, volumeGroupSnapshotRef: { ...ref, name: "other" } }),
    "volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace are immutable",
  ],
  [
    "a group that gets its uid",
    VolumeGroupSnapshotContent,
    spec({ ...groupContent, source: { volumeHandles: ["a"] } }),
    spec({ ...groupContent, source: { volumeHandles: ["a"] }, volumeGroupSnapshotRef: { ...ref, uid: "1" } }),
    "accepted",
  ],
  [
    "other parameters of a class",
    VolumeGroupSnapshotClass,
    groupClass,
    { ...groupClass, parameters: {} },
    "parameters are immutable once set",
  ],
  [
    "another policy of a class",
    VolumeGroupSnapshotClass,
    groupClass,
    { ...groupClass, deletionPolicy: "Retain" },
    "deletionPolicy is immutable once set",
  ],
])("%s", async (_, resource, object, change, words) => {
  expect(await refusal(resource, object, change)).toContain(words);
});

it("nanoseconds since 1970 are kept exactly", async () => {
  const all = client.of(VolumeSnapshotContent);
  const made = await all.create({
    apiVersion: VolumeSnapshotContent.apiVersion,
    kind: VolumeSnapshotContent.kind,
    metadata: { name: "exact" },
    spec: { ...content, deletionPolicy: "Delete", source: { snapshotHandle: "s1" } },
  });
  const creationTime = 1_795_000_000_123_456_789n;
  await all.updateStatus({ ...made, status: { creationTime, readyToUse: true } });
  expect((await all.get("exact")).status?.creationTime).toBe(creationTime);
});

it("what is installed by others is left as it is", async () => {
  const name = "volumesnapshotclasses.snapshot.storage.k8s.io";
  const all = client.of(kinds.CustomResourceDefinition);
  await all.patch(name, { type: "merge", object: { metadata: { labels: { mine: "yes" } } } });
  const before = await all.get(name);
  await installDefinitions(client, new AbortController().signal);
  expect(await all.get(name)).toEqual(before);
  expect((await all.list()).items.map((each) => each.metadata.name).sort()).toEqual(
    definitions.map(({ metadata }) => metadata.name).sort(),
  );
});
