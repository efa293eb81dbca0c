import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtIn, type JsonObject } from "#api";
import { silentLogger, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { ALLOW } from "../authz/verdict.ts";
import { StoreFeed } from "../cache/feed.ts";
import { Loopback } from "../loopback/loopback.ts";
import { STORE_PREFIX } from "../rest/resource.ts";
import { Resources } from "../rest/resources.ts";
import { allPlugins } from "./all-plugins.ts";
import type { PluginServices } from "./chain/plugin-services.ts";
import { type AdmissionOptions, selectPlugins } from "./select.ts";

const clock = new VirtualClock();
const feed = new StoreFeed({ store: openMemoryStore({ clock }), prefix: STORE_PREFIX, clock, log: silentLogger });
const resources = new Resources(feed);
for (const kind of builtIn) resources.add(kind);
const services: Omit<PluginServices, "requireDefaultAccount" | "featureEnabled"> = {
  resources,
  storage: {} as PluginServices["storage"],
  loopback: new Loopback(),
  authorize: () => ALLOW,
};
const made = (options: AdmissionOptions) => selectPlugins(options, services);
const names = async (options: AdmissionOptions) => (await made(options)).map(({ name }) => name);
const usual = allPlugins.filter(({ byDefault }) => byDefault).map(({ name }) => name);

const dir = mkdtempSync(join(tmpdir(), "k8ts-plugins-"));
afterAll(() => rmSync(dir, { recursive: true }));
const kubeConfigFile = join(dir, "backend.yaml");
writeFileSync(
  kubeConfigFile,
  `current-context: x
contexts: [{name: x, context: {cluster: backend}}]
clusters: [{name: backend, cluster: {server: "https://127.0.0.1:1/"}}]
`,
);

describe("selectPlugins", () => {
  it("runs those that are on by default, in their order", async () => {
    expect(await names({})).toEqual(usual);
  });

  it("adds and takes away, whatever the order of the flags", async () => {
    const found = await names({ enable: ["AlwaysPullImages", "AlwaysAdmit"], disable: ["PodSecurity"] });
    expect(found[0]).toBe("AlwaysAdmit");
    expect(new Set(found)).toEqual(
      new Set([...usual.filter((name) => name !== "PodSecurity"), "AlwaysPullImages", "AlwaysAdmit"]),
    );
  });

  it.each([
    { gate: "ClusterTrustBundle", plugins: ["ClusterTrustBundleAttest"] },
    { gate: "GenericWorkload", plugins: ["PodGroupProtection", "PodGroupWorkloadExists", "JobValidation"] },
    { gate: "WorkloadWithJob", plugins: ["JobValidation"] },
    { gate: "NodeDeclaredFeatures", plugins: ["NodeDeclaredFeatureValidator"] },
    { gate: "PodTopologyLabelsAdmission", plugins: ["PodTopologyLabels"] },
    { gate: "InPlacePodVerticalScaling", plugins: ["PodResizeValidator"] },
  ])("$gate switches $plugins", async ({ gate, plugins }) => {
    const acting = async (featureEnabled: (gate: string) => boolean) =>
      (await made({ featureEnabled }))
        .filter(({ mutates = [], validates = [] }) => mutates.length + validates.length > 0)
        .map(({ name }) => name);
    const without = await acting(() => false);
    expect((await acting((asked) => asked === gate)).filter((name) => !without.includes(name))).toEqual(plugins);
  });

  it("has the gates of v1.36 by default", async () => {
    const inert = (await made({})).filter(
      ({ mutates = [], validates = [] }) => mutates.length + validates.length === 0,
    );
    expect(inert.map(({ name }) => name)).toEqual([
      "PodGroupProtection",
      "ClusterTrustBundleAttest",
      "PodGroupWorkloadExists",
      "JobValidation",
    ]);
  });

  const wrong: [AdmissionOptions, string][] = [
    [{ enable: ["Nothing"] }, '--enable-admission-plugins: there is no plugin "Nothing".'],
    [{ disable: ["Nothing"] }, '--disable-admission-plugins: there is no plugin "Nothing".'],
    [{ enable: ["Priority"], disable: ["Priority"] }, "Priority: it is named in --enable-admission-plugins and in"],
    [{ enable: ["ImagePolicyWebhook"] }, "ImagePolicyWebhook: no config specified."],
    [{ enable: ["EventRateLimit"] }, "EventRateLimit: its configuration has to name at least one of `limits`."],
    [
      { configuration: new Map([["PodSecurity", { kind: "X" }]]) },
      "PodSecurity: it has to be a PodSecurityConfiguration",
    ],
  ];
  it.each(wrong)("refuses %j", async (options, says) => {
    await expect(names(options)).rejects.toThrow(says);
  });

  it("makes plugins that are called as the table calls them", async () => {
    const configuration = new Map<string, JsonObject>([
      ["EventRateLimit", { limits: [{ type: "Server", qps: 1, burst: 1 }] }],
      ["ImagePolicyWebhook", { imagePolicy: { kubeConfigFile } }],
    ]);
    const all = allPlugins.map(({ name }) => name);
    expect(await names({ enable: all, configuration })).toEqual(all);
  });
});

describe("the README", () => {
  it("lists every plugin, in order, with whether it is on", () => {
    const text = readFileSync(new URL("README.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| `(\w+)` \| (on|off) \|/gm)].map(([, name, is]) => [name, is]);
    expect(rows).toEqual(allPlugins.map(({ name, byDefault }) => [name, byDefault ? "on" : "off"]));
  });
});
