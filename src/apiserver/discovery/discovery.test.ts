import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { builtInKinds, type Kind } from "#api";
import { Discovery, rootPaths, type ServedVersion, servedVersions } from "./index.ts";

const reference = fileURLToPath(new URL("../../../../shared/reference/discovery/", import.meta.url));
const recorded = (name: string) => JSON.parse(readFileSync(reference + name, "utf8")) as Record<string, unknown>;
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

function builtIn(): Discovery {
  const discovery = new Discovery({ serverAddress: "192.0.2.10:46443" });
  discovery.set(...servedVersions(builtInKinds([])));
  return discovery;
}

function found(discovery: Discovery, path: string, accept?: string) {
  const answer = discovery.answer(path, accept);
  if (answer.outcome !== "found") throw new Error(`${path}: ${answer.outcome}`);
  return answer.document;
}

const value = (discovery: Discovery, path: string, accept?: string) => found(discovery, path, accept).value();

describe.skipIf(!existsSync(reference))("discovery, compared with a real server", () => {
  const files = (folder: string) => (existsSync(reference) ? readdirSync(reference + folder) : []);
  const discovery = builtIn();

  it.each([
    ["/api", undefined, "legacy-api.json"],
    ["/apis", undefined, "groups.json"],
    ["/api", AGGREGATED, "api.json"],
    ["/apis", AGGREGATED, "apis.json"],
  ])("%s with %s", (path, accept, file) => {
    // As texts: the order of fields and items matters.
    expect(found(discovery, path, accept).body.toString()).toBe(JSON.stringify(recorded(file)));
  });

  it.each(files("legacy-group"))("the group %s", (file) => {
    expect(value(discovery, `/apis/${file.replace(".json", "")}`)).toEqual(recorded(`legacy-group/${file}`));
  });

  it.each(files("legacy"))("the resources of %s", (file) => {
    const [group = "", version = ""] = file.replace(".json", "").split("_");
    const path = group === "core" ? `/api/${version}` : `/apis/${group}/${version}`;
    expect(found(discovery, path).body.toString()).toBe(JSON.stringify(recorded(`legacy/${file}`)));
  });

  it("lists the paths", () => {
    const paths = recorded("root-paths.json").paths as string[];
    const others = paths.filter((path) => !/^\/apis?(\/|$)/.test(path));
    expect(rootPaths(discovery.paths(), others).value()).toEqual({ paths });
  });
});

const widget = (kind: string, version: string): Kind => ({
  group: "example.com",
  version,
  kind,
  scope: "Namespaced",
  names: { plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
  verbs: ["create", "get", "list"],
  schema: { type: "object", fields: new Map() },
  served: [{ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get"], typeName: "" }],
});
const widgets = (version: string, ...kinds: string[]): ServedVersion => ({
  group: "example.com",
  version,
  custom: true,
  kinds: kinds.map((kind) => widget(kind, version)),
});

describe("a custom API", () => {
  it("comes after the built-in ones, versions by the meaning of their names", () => {
    const discovery = builtIn();
    discovery.set(widgets("v1beta1", "Widget"), widgets("v2", "Widget"), widgets("v10", "Widget"));
    expect((value(discovery, "/apis").groups as unknown[]).at(-1)).toEqual({
      name: "example.com",
      versions: ["v10", "v2", "v1beta1"].map((version) => ({ groupVersion: `example.com/${version}`, version })),
      preferredVersion: { groupVersion: "example.com/v10", version: "v10" },
    });
  });

  it("names its group and version in the aggregated form, and not in the other", () => {
    const discovery = new Discovery({ serverAddress: "a:1" });
    discovery.set(widgets("v1", "Widget"));
    expect(value(discovery, "/apis", AGGREGATED).items).toMatchObject([
      {
        versions: [
          {
            resources: [
              {
                responseKind: { group: "example.com", version: "v1", kind: "Widget" },
                subresources: [{ responseKind: { group: "autoscaling", version: "v1", kind: "Scale" } }],
              },
            ],
          },
        ],
      },
    ]);
    const [resource] = value(discovery, "/apis/example.com/v1").resources as object[];
    expect(resource).not.toHaveProperty("group");
    expect(resource).toHaveProperty("storageVersionHash");
  });

  it("is forgotten with its last version", () => {
    const discovery = builtIn();
    discovery.set(widgets("v1", "Widget"), widgets("v2", "Widget"));
    discovery.remove("example.com", "v2");
    expect(value(discovery, "/apis/example.com")).toMatchObject({ preferredVersion: { version: "v1" } });
    expect(discovery.answer("/apis/example.com/v2", undefined)).toEqual({ outcome: "notFound" });
    discovery.remove("example.com", "v1");
    expect(discovery.answer("/apis/example.com", undefined)).toEqual({ outcome: "notFound" });
    expect(value(discovery, "/apis")).toEqual(value(builtIn(), "/apis"));
  });
});

describe("documents", () => {
  it("are the same bytes until their group changes", () => {
    const discovery = builtIn();
    const paths = ["/apis/apps/v1", "/apis/apps", "/api/v1"];
    const before = paths.map((path) => found(discovery, path).body);
    const list = found(discovery, "/apis", AGGREGATED);
    discovery.set(widgets("v1", "Widget"));
    expect(paths.map((path) => found(discovery, path).body)).toSatisfy((after: Buffer[]) =>
      after.every((body, index) => body === before[index]),
    );
    expect(found(discovery, "/apis", AGGREGATED).etag).not.toBe(list.etag);
    discovery.remove("example.com", "v1");
    expect(found(discovery, "/apis", AGGREGATED).etag).toBe(list.etag);
  });

  it("know their gzip form", () => {
    const document = found(builtIn(), "/api/v1");
    expect(gunzipSync(document.gzip).equals(document.body)).toBe(true);
    expect(document.gzip).toBe(document.gzip);
  });

  it("show what another server said of itself, but leave its own documents to it", () => {
    const discovery = new Discovery({ serverAddress: "a:1" });
    const resources = [{ resource: "nodes", scope: "Cluster" }];
    const priority = { group: 100, version: 100 };
    const remote = { group: "metrics.k8s.io", version: "v1beta1", kinds: [], priority };
    discovery.set({ ...remote, remote: { resources, fresh: true } });
    expect(value(discovery, "/apis", AGGREGATED).items).toEqual([
      { metadata: { name: "metrics.k8s.io" }, versions: [{ version: "v1beta1", resources, freshness: "Current" }] },
    ]);
    discovery.set({ ...remote, remote: { resources, fresh: false } });
    expect(JSON.stringify(value(discovery, "/apis", AGGREGATED))).toContain('"freshness":"Stale"');
    expect(discovery.answer("/apis/metrics.k8s.io/v1beta1", undefined)).toEqual({ outcome: "notFound" });
    expect(value(discovery, "/apis/metrics.k8s.io")).toMatchObject({ preferredVersion: { version: "v1beta1" } });
  });

  it.each([
    ["/apis/apps/v9"],
    ["/apis/nosuch.example.com"],
    ["/api/v2"],
    ["/api/v1/pods"],
    ["/version"],
    ["/apis//v1"],
  ])("%s is not there", (path) => {
    expect(builtIn().answer(path, undefined)).toEqual({ outcome: "notFound" });
  });

  it("may be asked for with a slash at the end", () => {
    const discovery = builtIn();
    for (const path of ["/api", "/apis", "/apis/apps", "/apis/apps/v1"]) {
      expect(found(discovery, `${path}/`)).toBe(found(discovery, path));
    }
  });
});
