import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { historyOf, imagesToRemove } from "./image-gc.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
import { credentialsFor } from "./pull-secrets.ts";

const NOW = Date.UTC(2030, 0, 1);

describe("images", () => {
  it.each<[string, object | undefined]>([
    ["busybox", { registry: "docker.io", repository: "library/busybox", tag: "", digest: "" }],
    ["a/b:1.2", { registry: "docker.io", repository: "a/b", tag: "1.2" }],
    ["localhost/x", { registry: "localhost", repository: "x" }],
    ["reg.example:5000/a/b:c", { registry: "reg.example:5000", repository: "a/b", tag: "c" }],
    [`x@sha256:${"a".repeat(64)}`, { repository: "library/x", digest: `sha256:${"a".repeat(64)}` }],
    ["Upper", undefined],
    ["a b", undefined],
    ["a:", undefined],
    ["", undefined],
  ])("%j", (name, want) => {
    if (want === undefined) expect(parseImageName(name)).toBeUndefined();
    else expect(parseImageName(name)).toMatchObject(want);
  });

  it("without a tag it is the latest", () => {
    expect([withDefaultTag("a"), withDefaultTag("a:1"), withDefaultTag("host:5000/a")]).toEqual([
      "a:latest",
      "a:1",
      "host:5000/a:latest",
    ]);
  });

  const secret = (auths: object): core.Secret => ({
    metadata: {},
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") },
  });
  const auth = (user: string) => ({ auth: Buffer.from(`${user}:pw`).toString("base64") });
  it.each<[string, object, string[]]>([
    [
      "reg.example/a/b",
      { "reg.example": auth("all"), "reg.example/a": auth("near"), "other.example": auth("no") },
      ["near", "all"],
    ],
    ["reg.example/a", { "https://reg.example/v1/": auth("old") }, ["old"]],
    ["sub.reg.example/a", { "*.reg.example": auth("any"), "reg.example": auth("no") }, ["any"]],
    ["busybox", { "https://index.docker.io/v1/": auth("hub") }, ["hub"]],
  ])("credentials for %s", (image, auths, want) =>
    expect(credentialsFor(image, [secret(auths)]).map(({ auth: { username } }) => username)).toEqual(want),
  );

  it("a Secret that makes no sense gives none", () =>
    expect(credentialsFor("a", [{ metadata: {}, data: { ".dockerconfigjson": "eHg=" } }])).toEqual([]));

  it("unused ones go, the longest unused first, until there is room", () => {
    const image = (id: string, sizeBytes = 10) => ({ id, repoTags: [`r/${id}`], repoDigests: [], sizeBytes });
    const images = [
      image("used"),
      image("old"),
      image("older"),
      { ...image("kept"), repoTags: ["localhost/kept:1"] },
      image("new"),
    ];
    const inUse = new Set(["r/used"]);
    const first = historyOf(new Map(), images.slice(0, 4), new Set(["r/old"]), NOW - 600_000);
    const history = historyOf(first, images, inUse, NOW);
    const removed = (bytes: number) => imagesToRemove(images, inUse, history, bytes, NOW).map(({ id }) => id);
    expect(removed(0)).toEqual([]);
    expect(removed(5)).toEqual(["older"]);
    expect(removed(Number.POSITIVE_INFINITY)).toEqual(["older", "old"]);
  });
});
