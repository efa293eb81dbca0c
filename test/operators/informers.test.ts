/** Informers of the official JavaScript client on kinds that users define. */
import {
  ApiextensionsV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  ListWatch,
  PatchStrategy,
  setHeaderOptions,
  type V1CustomResourceDefinition,
  Watch,
} from "client-node-1";
import { describe, expect, it } from "vitest";
import type { Home } from "../support/k8ts.ts";
import { clusterForFile } from "../support/tools.ts";

const home = clusterForFile();
const namespace = "default";
const eventually = <T>(read: () => T) => expect.poll(read);

interface Lamp extends KubernetesObject {
  readonly spec: { readonly watts: number };
}

describe("an informer on custom resources", () => {
  it("sees objects come, change and go, and the end of their kind", async () => {
    const { definitions, lamps, follow } = await kindOf("lamps", "Lamp");
    await lamps.create("before", 10);
    await using seen = await follow();
    await lamps.create("while", 20);
    await lamps.patch("before", { spec: { watts: 11 } });
    await lamps.patchStatus("while", { status: { lit: true } });
    await eventually(() => seen.events).toEqual([
      "add before 10",
      "add while 20",
      "update before 11",
      "update while 20",
    ]);
    await lamps.delete("while");
    await eventually(() => seen.events.at(-1)).toBe("delete while 20");
    expect(seen.names()).toEqual(["before"]);
    await definitions.deleteCustomResourceDefinition({ name: "lamps.example.com" });
    await eventually(() => seen.events.at(-1)).toBe("delete before 11");
  });

  it("selects by label and by a field that the definition names", async () => {
    const { lamps, follow } = await kindOf("bulbs", "Bulb");
    await using red = await follow({ labelSelector: "colour=red" });
    await using strong = await follow({ fieldSelector: "spec.watts=60" });
    await lamps.create("one", 60, { colour: "red" });
    await lamps.create("two", 60, { colour: "blue" });
    await lamps.create("three", 5, { colour: "red" });
    await eventually(() => red.events).toEqual(["add one 60", "add three 5"]);
    await eventually(() => strong.events).toEqual(["add one 60", "add two 60"]);
    // Out of the selection is deleted, as it was when it was last in it; into it is added.
    await lamps.patch("one", { spec: { watts: 61 } });
    await lamps.patch("three", { spec: { watts: 60 } });
    await eventually(() => strong.events.slice(2)).toEqual(["delete one 60", "add three 60"]);
    await eventually(() => red.events.slice(2)).toEqual(["update one 61", "update three 60"]);
  });

  it("is given its own version, whichever is stored", async () => {
    const { definitions, lamps, follow } = await kindOf("torches", "Torch");
    await using seen = await follow();
    await lamps.create("old", 1);
    await eventually(() => seen.events).toEqual(["add old 1"]);
    const name = "torches.example.com";
    const stored = await definitions.readCustomResourceDefinition({ name });
    const versions = stored.spec.versions.map((one) => ({ ...one, storage: false }));
    const v2 = versions.map((one) => ({ ...one, name: "v2", storage: true }));
    const body = { ...stored, spec: { ...stored.spec, versions: [...versions, ...v2] } };
    await definitions.replaceCustomResourceDefinition({ name, body });
    // Served a moment later.
    await eventually(() => lamps.create("new", 2, {}, "v2").then(() => "created", String)).toBe("created");
    await eventually(() => seen.events).toContain("add new 2");
    expect(seen.versions()).toEqual(["example.com/v1", "example.com/v1"]);
  });
});

/** Defines the kind and returns once it is served. */
async function kindOf(plural: string, kind: string) {
  const config = configOf(home());
  const definitions = config.makeApiClient(ApiextensionsV1Api);
  const objects = config.makeApiClient(CustomObjectsApi);
  const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  const of = (version = "v1") => ({ group: "example.com", version, namespace, plural });
  await definitions.createCustomResourceDefinition({ body: definition(plural, kind) });
  await eventually(() => objects.listNamespacedCustomObject(of()).then(() => "served", String)).toBe("served");
  const lamps = {
    create: (name: string, watts: number, labels: Record<string, string> = {}, version = "v1") => {
      const body = { apiVersion: `example.com/${version}`, kind, metadata: { name, labels }, spec: { watts } };
      return objects.createNamespacedCustomObject({ ...of(version), body });
    },
    patch: (name: string, body: object) => objects.patchNamespacedCustomObject({ ...of(), name, body }, merge),
    patchStatus: (name: string, body: object) =>
      objects.patchNamespacedCustomObjectStatus({ ...of(), name, body }, merge),
    delete: (name: string) => objects.deleteNamespacedCustomObject({ ...of(), name }),
  };
  const follow = async (selectors: { labelSelector?: string; fieldSelector?: string } = {}) => {
    const list = () =>
      objects.listNamespacedCustomObject({ ...of(), ...selectors }) as Promise<KubernetesListObject<Lamp>>;
    const path = `/apis/example.com/v1/namespaces/${namespace}/${plural}`;
    const { labelSelector, fieldSelector } = selectors;
    // What makeInformer makes, which knows nothing of fields.
    const informer = new ListWatch<Lamp>(path, new Watch(config), list, false, labelSelector, fieldSelector);
    const events: string[] = [];
    for (const verb of ["add", "update", "delete"] as const)
      informer.on(verb, ({ metadata, spec }) => events.push(`${verb} ${metadata?.name} ${spec.watts}`));
    await informer.start();
    return {
      events,
      names: () => informer.list().map(({ metadata }) => metadata?.name),
      versions: () => informer.list().map(({ apiVersion }) => apiVersion),
      [Symbol.asyncDispose]: () => informer.stop(),
    };
  };
  return { definitions, lamps, follow };
}

function definition(plural: string, kind: string): V1CustomResourceDefinition {
  const spec = { type: "object", properties: { watts: { type: "integer" } } };
  const status = { type: "object", properties: { lit: { type: "boolean" } } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          selectableFields: [{ jsonPath: ".spec.watts" }],
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
        },
      ],
    },
  };
}

function configOf({ kubeconfig }: Home): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}
