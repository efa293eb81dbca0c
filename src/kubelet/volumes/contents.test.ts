import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { type ContentSources, volumeContents } from "./contents.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pod: core.Pod = {
  metadata: { name: "web", namespace: "shop", labels: { a: "1" } },
  spec: { containers: [{ name: "app", resources: { limits: { cpu: "250m" } } }] },
};
const sources: ContentSources = {
  pod,
  configMap: (name) =>
    name === "cm" ? { metadata: {}, data: { a: "one", b: "two" }, binaryData: { c: base64("three") } } : undefined,
  secret: (name) => (name === "sec" ? { metadata: {}, data: { pass: base64("word") } } : undefined),
  token: ({ audience = "api" }) => `token for ${audience}`,
  allocatable: { memory: "1Gi" },
};
const shown = (volume: Omit<core.Volume, "name">, about: Partial<ContentSources> = {}) =>
  Object.fromEntries(
    [...(volumeContents({ name: "v", ...volume }, { ...sources, ...about }) ?? [])].map(
      ([path, { bytes, mode, uid }]) => [
        path,
        [Buffer.from(bytes).toString(), mode.toString(8), ...(uid === undefined ? [] : [uid])],
      ],
    ),
  );

describe("contents of volumes", () => {
  it.each<[string, Omit<core.Volume, "name">, object]>([
    ["a ConfigMap", { configMap: { name: "cm" } }, { a: ["one", "644"], b: ["two", "644"], c: ["three", "644"] }],
    [
      "some of its keys",
      {
        configMap: {
          name: "cm",
          defaultMode: 0o400,
          items: [
            { key: "a", path: "x/y" },
            { key: "b", path: "b", mode: 0o777 },
          ],
        },
      },
      { "x/y": ["one", "400"], b: ["two", "777"] },
    ],
    ["a Secret", { secret: { secretName: "sec", defaultMode: 0o440 } }, { pass: ["word", "440"] }],
    ["nothing, where it is optional", { secret: { secretName: "none", optional: true } }, {}],
    [
      "no such key, where it is optional",
      { configMap: { name: "cm", optional: true, items: [{ key: "z", path: "z" }] } },
      {},
    ],
    [
      "fields and resources",
      {
        downwardAPI: {
          items: [
            { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
            {
              path: "cpu",
              mode: 0o600,
              resourceFieldRef: { containerName: "app", resource: "limits.cpu", divisor: "1m" },
            },
            { path: "memory", resourceFieldRef: { containerName: "app", resource: "limits.memory" } },
          ],
        },
      },
      { labels: ['a="1"', "644"], cpu: ["250", "600"], memory: ["1073741824", "644"] },
    ],
    [
      "several sources",
      {
        projected: {
          defaultMode: 0o444,
          sources: [
            { secret: { name: "sec" } },
            { configMap: { name: "cm", items: [{ key: "a", path: "a" }] } },
            { serviceAccountToken: { path: "token", audience: "vault" } },
          ],
        },
      },
      { pass: ["word", "444"], a: ["one", "444"], token: ["token for vault", "444"] },
    ],
  ])("%s", (_, volume, want) => expect(shown(volume)).toEqual(want));

  it.each<[Omit<core.Volume, "name">, string]>([
    [{ configMap: { name: "none" } }, 'configmap "none" not found'],
    [{ secret: { secretName: "none" } }, 'secret "none" not found'],
    [{ configMap: { name: "cm", items: [{ key: "z", path: "z" }] } }, "references non-existent config key: z"],
    [{ secret: { secretName: "sec", items: [{ key: "z", path: "z" }] } }, "references non-existent secret key: z"],
  ])("%j fails: %s", (volume, message) => expect(() => shown(volume)).toThrow(message));

  it("a token is its user's alone where there is one", () => {
    const volume = { projected: { sources: [{ serviceAccountToken: { path: "token" } }] } };
    const owned = { ...pod, spec: { containers: pod.spec?.containers ?? [], securityContext: { runAsUser: 1000 } } };
    expect(shown(volume, { pod: owned })).toEqual({ token: ["token for api", "600", 1000] });
    const grouped = { ...pod, spec: { containers: pod.spec?.containers ?? [], securityContext: { fsGroup: 2000 } } };
    expect(shown(volume, { pod: grouped })).toEqual({ token: ["token for api", "600"] });
  });

  it("other volumes have none", () => expect(volumeContents({ name: "v", emptyDir: {} }, sources)).toBeUndefined());
});
