import { afterEach, describe, expect, it } from "vitest";
import {
  type apiextensions,
  builtIn,
  isEnvelope,
  kinds,
  optional,
  parseFeatures,
  parseRuntimeConfig,
  StatusError,
  servedKinds,
} from "#api";
import { VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { definition, widget } from "../../apiserver/custom-resources/testing/index.ts";
import { mediaTypeStore } from "../../apiserver/storage/media-type-store.ts";
import { type TestControllersOptions, testControllers } from "../testing/index.ts";
import { storageVersionMigrator } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const DEFINITION = "widgets.example.com";
const V1 = "/apis/example.com/v1/namespaces/default/widgets";
const twoVersions = (storage: "v1" | "v2") =>
  definition({
    versions: ["v1", "v2"].map((name) => ({ name, storage: name === storage })),
  }) as apiextensions.CustomResourceDefinition;

async function running(options: TestControllersOptions = {}) {
  const features = parseFeatures({ gates: "StorageVersionMigrator=true" });
  const runtimeConfig = parseRuntimeConfig("storagemigration.k8s.io/v1beta1=true");
  const served = servedKinds({ runtimeConfig, enabled: features.enabled });
  const cluster = await testControllers([storageVersionMigrator], { features, kinds: served, ...options });
  open.push(() => cluster.close());
  const { client, server, settle } = cluster;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const migrations = client.of(optional.StorageVersionMigration);
  const definitions = client.of(kinds.CustomResourceDefinition);
  const ask = (name: string, resource: string, group = "example.com") =>
    migrations.create({ metadata: { name }, spec: { resource: { group, resource } } });
  const conditions = async (name: string) =>
    ((await migrations.get(name)).status?.conditions ?? []).map(
      ({ type, status, message }) => `${type}=${status}${message === "" ? "" : ` ${message}`}`,
    );
  const migrating = async () => {
    const { status } = await definitions.get(DEFINITION);
    const found = status?.conditions?.find(({ type }) => type === "StorageMigrating");
    return { stored: status?.storedVersions, says: found && `${found.status} ${found.message}` };
  };
  /** Objects `names`, stored in v1, of a definition that is stored in v2 by now. */
  const define = async (names: readonly string[]) => {
    await definitions.create(twoVersions("v1"));
    await settle();
    for (const name of names) await server.request("POST", V1, { body: widget(name, { size: 1 }) });
    const { metadata } = await definitions.get(DEFINITION);
    await definitions.update({ ...twoVersions("v2"), metadata });
    await settle();
  };
  const storedIn = async (name: string) => {
    const text = (await server.store.get(`/registry/example.com/widgets/default/${name}`))?.value.toString();
    return (JSON.parse(text ?? "{}") as { apiVersion?: string }).apiVersion;
  };
  return { ...cluster, migrations, ask, conditions, migrating, define, storedIn };
}

const DONE = ["Running=False Migration completed", "Succeeded=True"];
const unhandled = "migration encountered unhandled error";

describe("a migration", () => {
  it("stores the objects of a definition in its version, and takes the other from its status", async () => {
    const { ask, conditions, define, storedIn, migrating, settle, server } = await running();
    await define(["a", "b"]);
    expect([await storedIn("a"), (await migrating()).stored]).toEqual(["example.com/v1", ["v1", "v2"]]);
    const before = (await server.request("GET", `${V1}/a`)).metadata;
    await ask("m", "widgets");
    await settle();
    expect(await conditions("m")).toEqual(DONE);
    expect([await storedIn("a"), await storedIn("b")]).toEqual(["example.com/v2", "example.com/v2"]);
    expect(await migrating()).toEqual({
      stored: ["v2"],
      says: "False The migration has succeeded and the stored versions have been updated",
    });
    const after = (await server.request("GET", `${V1}/a`)).metadata;
    expect(after.resourceVersion).not.toBe(before.resourceVersion);
    expect([after.uid, after.generation, after.managedFields]).toEqual([
      before.uid,
      before.generation,
      before.managedFields,
    ]);
  });

  it("writes ConfigMaps that are stored in an earlier form, and those alone", async () => {
    const clock = new VirtualClock();
    const inner = openMemoryStore({ clock });
    const key = (name: string) => `/registry/core/configmaps/default/${name}`;
    const isNew = async (name: string) => isEnvelope((await inner.get(key(name)))?.value ?? Buffer.alloc(0));
    const store = mediaTypeStore(inner, "application/vnd.kubernetes.protobuf", builtIn);
    const value = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "old", namespace: "default", uid: "u" } };
    await inner.create(key("old"), Buffer.from(JSON.stringify(value)));
    const { client, ask, conditions, settle } = await running({
      clock,
      store,
      isOutdated: (each) => store.isOutdated(each),
    });
    await client.of(kinds.ConfigMap).create({ metadata: { name: "new", namespace: "default" } });
    const revisions = async () =>
      (await client.of(kinds.ConfigMap).list()).items.map(({ metadata }) => metadata.resourceVersion);
    const [fresh, old] = await revisions();
    expect(await isNew("old")).toBe(false);
    await ask("m", "configmaps", "");
    await settle();
    expect([await conditions("m"), await isNew("old")]).toEqual([DONE, true]);
    const [freshAfter, oldAfter] = await revisions();
    expect([freshAfter === fresh, oldAfter === old]).toEqual([true, false]);
  });

  it("passes over objects that are changed or deleted meanwhile", async () => {
    const { ask, conditions, define, storedIn, settle, refuse, server, requests } = await running();
    await define(["a", "b", "c"]);
    let interfered: Promise<unknown> | undefined;
    refuse(({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/widgets/a") || interfered !== undefined) return undefined;
      interfered = Promise.all([
        server.request("PATCH", `${V1}/b`, {
          body: { spec: { size: 2 } },
          headers: { "content-type": "application/merge-patch+json" },
        }),
        server.request("DELETE", `${V1}/c`),
      ]);
      return undefined;
    });
    await ask("m", "widgets");
    await settle();
    await interfered;
    expect(
      requests().filter(({ method, path }) => method === "PATCH" && path.includes("/default/widgets/")),
    ).toHaveLength(3);
    expect(await conditions("m")).toEqual(DONE);
    expect([await storedIn("a"), await storedIn("b"), await storedIn("c")]).toEqual([
      "example.com/v2",
      "example.com/v2",
      undefined,
    ]);
  });

  it("tries again where an answer may be another one later", async () => {
    const { ask, conditions, define, settle, refuse, clock, migrating } = await running();
    await define(["a"]);
    refuse(({ method, path }) =>
      method === "PATCH" && path.endsWith("/widgets/a") ? new StatusError("TooManyRequests", "later") : undefined,
    );
    await ask("m", "widgets");
    await settle();
    await clock.advance(5_000);
    expect(await conditions("m")).toEqual(["Running=True The migration is running"]);
    expect(await migrating()).toEqual({ stored: ["v1", "v2"], says: "True Migration m is running" });
    refuse(() => undefined);
    await clock.advance(600_000);
    expect(await conditions("m")).toEqual(DONE);
  });

  it("fails with the words of what refused a write, and leaves the stored versions", async () => {
    const { ask, conditions, define, settle, refuse, migrating } = await running();
    await define(["a"]);
    refuse(({ method, path }) =>
      method === "PATCH" && path.endsWith("/widgets/a") ? new StatusError("Forbidden", "not you") : undefined,
    );
    await ask("m", "widgets");
    await settle();
    expect(await conditions("m")).toEqual(["Running=False Migration completed", `Failed=True ${unhandled}: not you`]);
    expect(await migrating()).toEqual({ stored: ["v1", "v2"], says: "False The migration has failed" });
  });

  it("continues after a stop, without writing again what was written", async () => {
    const { ask, conditions, define, settle, refuse, stop, server } = await running();
    await define(["a", "b"]);
    refuse(({ method, path }) =>
      method === "PATCH" && path.endsWith("/widgets/b") ? new StatusError("Timeout", "later") : undefined,
    );
    await ask("m", "widgets");
    await settle();
    await stop();
    const features = parseFeatures({ gates: "StorageVersionMigrator=true" });
    const second = await testControllers([storageVersionMigrator], { server, features });
    open.push(() => second.close());
    expect(await conditions("m")).toEqual(DONE);
    const written = second.requests().filter(({ method, path }) => method === "PATCH" && path.includes("/default/"));
    expect(written.map(({ path }) => path.split("/").at(-1))).toEqual(["b"]);
  });

  it("of the same resource waits for the one before", async () => {
    const { ask, conditions, define, settle, refuse, clock, migrations } = await running();
    await define(["a"]);
    refuse(({ method, path }) =>
      method === "PATCH" && path.endsWith("/widgets/a") ? new StatusError("Timeout", "later") : undefined,
    );
    for (const name of ["first", "second", "third"]) {
      await ask(name, "widgets");
      await settle();
    }
    expect([await conditions("second"), await conditions("third")]).toEqual([[], []]);
    await migrations.delete("first");
    await settle();
    expect([await conditions("second"), await conditions("third")]).toEqual([
      ["Running=True The migration is running"],
      [],
    ]);
    refuse(() => undefined);
    await clock.advance(600_000);
    expect([await conditions("second"), await conditions("third")]).toEqual([DONE, DONE]);
  });

  it("of a resource that does not exist waits a minute for it, and fails", async () => {
    const { ask, conditions, clock, settle } = await running();
    await ask("m", "gadgets");
    await settle();
    await clock.advance(50_000);
    expect(await conditions("m")).toEqual(["Running=True The migration is running"]);
    await clock.advance(20_000);
    expect(await conditions("m")).toEqual([
      "Running=False Migration completed",
      "Failed=True resource does not exist in discovery",
    ]);
  });

  it("of a resource that cannot be listed and written fails", async () => {
    const { ask, conditions, settle } = await running();
    await ask("m", "tokenreviews", "authentication.k8s.io");
    await settle();
    expect((await conditions("m")).at(-1)).toBe(
      'Failed=True resource "authentication.k8s.io/v1, Resource=tokenreviews" does not support discovery operations: [update patch list]',
    );
  });

  it("begins once its resource is there", async () => {
    const { ask, conditions, define, settle, clock, storedIn } = await running();
    await ask("m", "widgets");
    await settle();
    await define(["a"]);
    await clock.advance(10_000);
    expect([await conditions("m"), await storedIn("a")]).toEqual([DONE, "example.com/v2"]);
  });
});
