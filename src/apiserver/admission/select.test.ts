import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { builtIn } from "#api";
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
const services: Omit<PluginServices, "requireDefaultAccount"> = {
  resources,
  storage: {} as PluginServices["storage"],
  loopback: new Loopback(),
  authorize: () => ALLOW,
};
const names = (options: AdmissionOptions) => selectPlugins(options, services).map(({ name }) => name);
const usual = allPlugins.filter(({ byDefault, make }) => byDefault && make !== undefined).map(({ name }) => name);

describe("selectPlugins", () => {
  it("runs those that are on by default, in their order", () => {
    expect(names({})).toEqual(usual);
  });

  it("adds and takes away, whatever the order of the flags", () => {
    const found = names({ enable: ["AlwaysPullImages", "AlwaysAdmit"], disable: ["PodSecurity"] });
    expect(found[0]).toBe("AlwaysAdmit");
    expect(new Set(found)).toEqual(
      new Set([...usual.filter((name) => name !== "PodSecurity"), "AlwaysPullImages", "AlwaysAdmit"]),
    );
  });

  it("accepts the names of plugins that it does not have, where nothing of theirs is asked for", () => {
    expect(names({ disable: ["ClusterTrustBundleAttest"] })).toEqual(usual);
    expect(names({ enable: ["ClusterTrustBundleAttest"] })).toEqual(usual);
  });

  const wrong: [AdmissionOptions, string][] = [
    [{ enable: ["Nothing"] }, '--enable-admission-plugins: there is no plugin "Nothing".'],
    [{ disable: ["Nothing"] }, '--disable-admission-plugins: there is no plugin "Nothing".'],
    [{ enable: ["Priority"], disable: ["Priority"] }, "Priority: it is named in --enable-admission-plugins and in"],
    [{ enable: ["ImagePolicyWebhook"] }, "ImagePolicyWebhook is not part of this version yet."],
    [{ enable: ["EventRateLimit"] }, "EventRateLimit: its configuration has to name at least one of `limits`."],
    [
      { configuration: new Map([["PodSecurity", { kind: "X" }]]) },
      "PodSecurity: it has to be a PodSecurityConfiguration",
    ],
  ];
  it.each(wrong)("refuses %j", (options, says) => {
    expect(() => names(options)).toThrow(says);
  });

  it("makes plugins that are called as the table calls them", () => {
    const configuration = new Map([["EventRateLimit", { limits: [{ type: "Server", qps: 1, burst: 1 }] }]]);
    const made = allPlugins.filter(({ make }) => make !== undefined).map(({ name }) => name);
    expect(names({ enable: made, configuration })).toEqual(made);
  });
});

describe("the README", () => {
  it("lists every plugin, in order, with whether it is on", () => {
    const text = readFileSync(new URL("README.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| `(\w+)` \| (on|off|—) \|/gm)].map(([, name, is]) => [name, is]);
    expect(rows).toEqual(
      allPlugins.map(({ name, byDefault, make }) => [name, make === undefined ? "—" : byDefault ? "on" : "off"]),
    );
  });
});
