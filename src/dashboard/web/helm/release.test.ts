import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../api/watched.ts";
import { chartOf, partsOf, releaseIn, releasesOf, releaseTone } from "./release.ts";

function secret(name: string, version: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    metadata: {
      name: `sh.helm.release.v1.${name}.v${version}`,
      namespace: "shop",
      uid: `${name}-${version}`,
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { owner: "helm", name, version, status: "superseded", ...labels },
    },
  };
}

const packed = (value: object, compressed = true) => {
  const json = Buffer.from(JSON.stringify(value));
  const inner = (compressed ? gzipSync(json) : json).toString("base64");
  return { type: "helm.sh/release.v1", data: { release: Buffer.from(inner).toString("base64") } };
};

const RELEASE = {
  name: "web",
  namespace: "shop",
  version: 2,
  chart: { metadata: { name: "nginx", version: "1.2.3", appVersion: "1.29" } },
  config: { grüße: "ü" },
};

describe("releases", () => {
  it("are the newest of their revisions, by number", () => {
    const all = releasesOf([
      secret("web", "9"),
      secret("web", "10", { status: "deployed", modifiedAt: "1767225600" }),
      secret("db", "1"),
      secret("broken", "x"),
    ]);
    expect(
      all.map(({ newest, revisions }) => [newest.name, newest.status, revisions.map((each) => each.revision)]),
    ).toEqual([
      ["web", "deployed", [10, 9]],
      ["db", "superseded", [1]],
    ]);
    expect(all.map(({ newest }) => newest.changed)).toEqual(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z"]);
  });

  it.each([
    ["deployed", "good"],
    ["failed", "bad"],
    ["pending-upgrade", "busy"],
    ["uninstalling", "busy"],
    ["superseded", "quiet"],
  ])("%s looks %s", (status, tone) => {
    expect(releaseTone(status)).toBe(tone);
  });

  it.each([true, false])("are unpacked (compressed: %s)", async (compressed) => {
    const release = await releaseIn(packed(RELEASE, compressed));
    expect(release).toEqual(RELEASE);
    expect(chartOf(release)).toEqual({ chart: "nginx 1.2.3", app: "1.29" });
  });

  it("are refused if they are none, or too large", async () => {
    await expect(releaseIn({ type: "Opaque", data: { release: "" } })).rejects.toThrow("not a release");
    await expect(releaseIn(packed({ name: "x".repeat(65 * 1024 * 1024) }))).rejects.toThrow("larger than 64 MiB");
  });

  it("have objects", () => {
    const documents = [
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" } },
      null,
      { kind: "no object" },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "other" } },
    ];
    expect(partsOf(documents, "shop")).toEqual([
      { apiVersion: "v1", kind: "Service", namespace: "shop", name: "web" },
      { apiVersion: "apps/v1", kind: "Deployment", namespace: "other", name: "web" },
    ]);
  });
});
