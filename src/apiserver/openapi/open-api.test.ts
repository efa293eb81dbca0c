import { describe, expect, it } from "vitest";
import { builtInKinds, type Json, type JsonObject, type Kind } from "#api";
import { type ServedVersion, servedVersions } from "../discovery/index.ts";
import { type Descriptions, noDescriptions, OpenApi } from "./index.ts";

const versions = servedVersions(builtInKinds([]));

function openApiOf(served: readonly ServedVersion[], descriptions: Descriptions = noDescriptions): OpenApi {
  const openApi = new OpenApi({ descriptions, kubernetesVersion: "1.36" });
  openApi.set(...served);
  return openApi;
}

interface Shown {
  readonly paths: Record<string, Record<string, JsonObject>>;
  readonly components: { readonly schemas: Record<string, JsonObject> };
}

function shown(openApi: OpenApi, path: string): Shown {
  const document = openApi.documentV3(path);
  if (document === undefined) throw new Error(`no document ${path}`);
  return document.value() as unknown as Shown;
}

const deployments = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";

describe("a document of built-in kinds", () => {
  const apps = shown(openApiOf(versions), "apis/apps/v1");

  it("tells kubectl by the PATCH operation that the server validates fields", () => {
    expect(apps.paths[deployments]?.patch).toMatchObject({
      "x-kubernetes-group-version-kind": { group: "apps", version: "v1", kind: "Deployment" },
      "x-kubernetes-action": "patch",
      parameters: expect.arrayContaining([
        { name: "fieldValidation", in: "query", schema: { type: "string", uniqueItems: true } },
      ]),
    });
  });

  it("tells parameters once that all operations of a path share", () => {
    const parameters = apps.paths[deployments]?.parameters as unknown as { name: string }[];
    expect(parameters.map(({ name }) => name)).toEqual(["name", "namespace", "pretty"]);
  });

  it.each([
    {
      name: "the types of fields",
      type: "io.k8s.api.core.v1.ContainerPort",
      want: {
        required: ["containerPort"],
        properties: {
          containerPort: { type: "integer", format: "int32", default: 0 },
          protocol: { type: "string", default: "TCP", enum: ["SCTP", "TCP", "UDP"] },
        },
      },
    },
    {
      name: "list types, merge keys, and references with a default",
      type: "io.k8s.api.core.v1.Container",
      want: {
        properties: {
          ports: {
            type: "array",
            items: { default: {}, allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.ContainerPort" }] },
            "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
            "x-kubernetes-list-type": "map",
            "x-kubernetes-patch-merge-key": "containerPort",
            "x-kubernetes-patch-strategy": "merge",
          },
        },
      },
    },
    {
      name: "types that are owned as a whole",
      type: "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
      want: { "x-kubernetes-map-type": "atomic" },
    },
    {
      name: "scalars that have a name",
      type: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
      want: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
    },
    {
      name: "kinds",
      type: "io.k8s.api.apps.v1.Deployment",
      want: { "x-kubernetes-group-version-kind": [{ group: "apps", version: "v1", kind: "Deployment" }] },
    },
    {
      name: "types that all groups share",
      type: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
      want: {
        "x-kubernetes-group-version-kind": [
          { group: "", version: "v1", kind: "DeleteOptions" },
          { group: "apps", version: "v1", kind: "DeleteOptions" },
        ],
      },
    },
  ])("shows $name", ({ type, want }) => {
    expect(apps.components.schemas[type]).toMatchObject(want);
  });

  it("has only types that something in it refers to", () => {
    const text = JSON.stringify(apps);
    for (const name of Object.keys(apps.components.schemas)) {
      expect(text).toContain(`"#/components/schemas/${name}"`);
    }
  });
});

describe("descriptions", () => {
  const descriptions: Descriptions = {
    type: (type, field) => (field === "spec" ? undefined : `about ${type.split(".").at(-1)} ${field ?? ""}`.trim()),
    parameter: (method, name) => `${name} of ${method}`,
  };
  const apps = shown(openApiOf(versions, descriptions), "apis/apps/v1");

  it("are shown where they are known, for a field of another type that type's own", () => {
    expect(apps.components.schemas["io.k8s.api.apps.v1.Deployment"]).toMatchObject({
      description: "about Deployment",
      properties: {
        status: { description: "about Deployment status" },
        spec: {
          description: "about DeploymentSpec",
          default: {},
          allOf: [{ $ref: "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec" }],
        },
      },
    });
    expect(JSON.stringify(apps.paths[deployments]?.patch)).toContain("force of patchNamespacedConfigMap");
  });
});

const widgetNames = { plural: "widgets", singular: "widget" };
const widget: Kind = {
  group: "stable.example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  names: widgetNames,
  verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
  schema: { type: "object", fields: new Map() },
  served: [
    {
      name: "status",
      group: "stable.example.com",
      version: "v1",
      kind: "Widget",
      verbs: ["get", "patch", "update"],
      typeName: "",
    },
  ],
};
const size = { type: "integer", maximum: 9, nullable: true, "x-kubernetes-validations": [{ rule: "self > 0" }] };
const definition = { type: "object", properties: { spec: { type: "object", properties: { size } } } };
const widgets: ServedVersion = {
  group: "stable.example.com",
  version: "v1",
  custom: true,
  kinds: [widget],
  schemas: new Map([["Widget", definition]]),
};

describe("a custom kind", () => {
  const openApi = openApiOf([...versions, widgets]);
  const { paths, components } = shown(openApi, "apis/stable.example.com/v1");
  const home = "/apis/stable.example.com/v1/namespaces/{namespace}/widgets";

  it("has the paths that custom resources have", () => {
    expect(Object.keys(paths)).toEqual([
      home,
      `${home}/{name}`,
      `${home}/{name}/status`,
      "/apis/stable.example.com/v1/widgets",
    ]);
    expect(paths[home]?.get?.operationId).toBe("listStableExampleComV1NamespacedWidget");
    expect(openApi.documentV3("apis/stable.example.com")).toBeUndefined();
  });

  it("speaks neither protobuf nor strategic merge patch", () => {
    const text = JSON.stringify(paths);
    expect(text).not.toContain("protobuf");
    expect(text).not.toContain("strategic");
    expect(text).toContain("application/apply-patch+yaml");
  });

  it("shows the schema of its definition, with the fields of every object", () => {
    expect(components.schemas["com.example.stable.v1.Widget"]).toMatchObject({
      properties: {
        ...definition.properties,
        kind: { type: "string" },
        metadata: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }] },
      },
      "x-kubernetes-group-version-kind": [{ group: "stable.example.com", version: "v1", kind: "Widget" }],
    });
    expect(components.schemas["com.example.stable.v1.WidgetList"]).toMatchObject({
      properties: { items: { items: { $ref: "#/components/schemas/com.example.stable.v1.Widget" } } },
      "x-kubernetes-group-version-kind": [{ group: "stable.example.com", version: "v1", kind: "WidgetList" }],
    });
  });

  it("is in version 2 as far as that has words for it", () => {
    const { definitions, paths } = openApi.documentV2.value() as { definitions: JsonObject; paths: JsonObject };
    expect(definitions["com.example.stable.v1.Widget"]).toMatchObject({
      properties: { spec: { type: "object", properties: { size: {} } } },
    });
    expect(JSON.stringify(definitions["com.example.stable.v1.Widget"])).not.toContain("nullable");
    expect(paths).toHaveProperty([home]);
  });

  it("says what its metadata is", () => {
    const about = (type: string) => (components.schemas[type] as { properties: JsonObject }).properties.metadata;
    expect(about("com.example.stable.v1.Widget")).toMatchObject({
      description: expect.stringMatching(/^Standard object's metadata\. More info: /),
    });
    expect(about("com.example.stable.v1.WidgetList")).toMatchObject({
      description: expect.stringMatching(/^Standard list metadata\. More info: /),
    });
  });
});

describe("documents", () => {
  it("stay as they are while others come and go", () => {
    const openApi = openApiOf(versions);
    const apps = openApi.documentV3("apis/apps/v1");
    const { body } = apps ?? {};
    const [index, v2] = [openApi.indexV3.hash, openApi.documentV2.hash];
    openApi.set(widgets);
    expect(openApi.documentV3("apis/apps/v1")?.body).toBe(body);
    expect(openApi.indexV3.hash).not.toBe(index);
    expect(openApi.documentV2.hash).not.toBe(v2);
    openApi.remove(widgets.group, widgets.version);
    expect(openApi.documentV3("apis/stable.example.com/v1")).toBeUndefined();
    expect([openApi.indexV3.hash, openApi.documentV2.hash]).toEqual([index, v2]);
  });

  it("have the same hashes on every server", () => {
    expect(openApiOf(versions).indexV3.body.equals(openApiOf(versions).indexV3.body)).toBe(true);
  });

  it("of a group go with its last version", () => {
    const openApi = openApiOf(versions);
    openApi.remove("autoscaling", "v1");
    expect(openApi.documentV3("apis/autoscaling")).toBeDefined();
    openApi.remove("autoscaling", "v2");
    expect(openApi.documentV3("apis/autoscaling")).toBeUndefined();
  });

  it("of other servers are in the index, and are theirs to give", () => {
    const openApi = openApiOf([]);
    const [path, url] = ["apis/metrics.k8s.io/v1beta1", "/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=THEIRS"];
    openApi.setRemote("metrics.k8s.io", "v1beta1", { url });
    expect([openApi.documentV3(path), openApi.isRemoteV3(path)]).toEqual([undefined, true]);
    expect(openApi.indexV3.value().paths).toHaveProperty([path], { serverRelativeURL: url });
    openApi.remove("metrics.k8s.io", "v1beta1");
    expect(openApi.isRemoteV3(path)).toBe(false);
    expect(openApi.indexV3.value().paths).not.toHaveProperty([path]);
  });

  it("of other servers stand beside those of this one in version 2", () => {
    const openApi = openApiOf(versions);
    const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
    const local = openApi.documentV2.value().definitions as JsonObject;
    const own = { type: "object", properties: { metadata: { $ref: `#/definitions/${meta}.ObjectMeta` } } };
    const gvk = { group: "a.example.com", kind: "DeleteOptions", version: "v1" };
    const sameWithoutTexts = JSON.parse(
      JSON.stringify(local[`${meta}.DeleteOptions`], (key, value) => (key === "description" ? undefined : value)),
    );
    openApi.setRemote("a.example.com", "v1", {
      fragment: {
        paths: new Map([["/apis/a.example.com/v1/things", { get: { schema: { $ref: "#/definitions/a.Thing" } } }]]),
        types: new Map<string, Json>([
          ["a.Thing", own],
          // Another type of the same name, and the same one for more kinds.
          [`${meta}.ObjectMeta`, { type: "object" }],
          [`${meta}.DeleteOptions`, { ...sameWithoutTexts, "x-kubernetes-group-version-kind": [gvk] }],
        ]),
        parameters: new Map(),
      },
    });
    const { paths, definitions } = openApi.documentV2.value() as Record<string, JsonObject>;
    expect(paths).toHaveProperty(["/apis/a.example.com/v1/things"]);
    expect(definitions?.["a.Thing"]).toEqual({
      type: "object",
      properties: { metadata: { $ref: `#/definitions/${meta}.ObjectMeta_v2` } },
    });
    expect(definitions?.[`${meta}.ObjectMeta_v2`]).toEqual({ type: "object" });
    expect(definitions?.[`${meta}.ObjectMeta`]).toEqual(local[`${meta}.ObjectMeta`]);
    expect(JSON.stringify(definitions?.[`${meta}.DeleteOptions`])).toContain(JSON.stringify(gvk));
    expect(definitions).not.toHaveProperty([`${meta}.DeleteOptions_v2`]);
  });
});
