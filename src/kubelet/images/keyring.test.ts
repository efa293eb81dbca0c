import { describe, expect, it } from "vitest";
import { type KeyringEntry, locationMatches, lookup } from "./keyring.ts";
import { credentialsOfServers } from "./node-credentials.ts";

const entry = (location: string, username = location): KeyringEntry => ({
  location,
  auth: { username, password: "p" },
  source: { kind: "node" },
});

describe("the keyring", () => {
  it.each<[string, string, boolean]>([
    ["registry.example", "registry.example/a/b", true],
    ["registry.example", "registry.example:5000/a", false],
    ["registry.example:5000", "registry.example:5000/a", true],
    ["*.example", "registry.example/a", true],
    ["*.example", "a.b.example/a", false],
    ["*.*.example", "a.b.example/a", true],
    ["pre*.example", "prefix.example/a", true],
    ["r?gistry.example", "registry.example/a", true],
    ["r[a-f]gistry.example", "registry.example/a", true],
    ["registry.example/team", "registry.example/team/app", true],
    ["registry.example/team", "registry.example/other", false],
    ["registry.example/team/app", "registry.example/team", false],
    ["registry.examplezzz", "registry.example/a", false],
    ["registry-example", "registry.example/a", false],
  ])("%s for %s: %s", (location, image, want) => expect(locationMatches(location, image)).toBe(want));

  it.each<[string, string[], string, string[]]>([
    ["the longer path first", ["r.example", "r.example/a"], "r.example/a/b", ["r.example/a", "r.example"]],
    [
      "schemes and versions mean nothing",
      ["https://r.example/v2/", "http://r.example"],
      "r.example/a",
      ["https://r.example/v2/", "http://r.example"],
    ],
    [
      "a path after the version counts",
      ["https://r.example/v1/team"],
      "r.example/team/a",
      ["https://r.example/v1/team"],
    ],
    [
      "Docker Hub by its old name",
      ["https://index.docker.io/v1/"],
      "docker.io/library/a",
      ["https://index.docker.io/v1/"],
    ],
    [
      "Docker Hub by both names: the one that matches",
      ["https://index.docker.io/v1/", "docker.io"],
      "docker.io/library/a",
      ["docker.io"],
    ],
    ["none", ["other.example"], "r.example/a", []],
  ])("%s", (_, locations, image, want) =>
    expect(
      lookup(
        locations.map((each) => entry(each)),
        image,
      ).map(({ auth }) => auth.username),
    ).toEqual(want),
  );

  it("those of registries.yaml go to one server each", () => {
    const text = JSON.stringify([
      { registry: "docker.io", server: "https://mirror.example", username: "m", password: "1" },
      { registry: "docker.io", server: "", username: "d", password: "2" },
      { registry: "*", server: "", identityToken: "t" },
    ]);
    const sent = (image: string) => credentialsOfServers(image, text).map(({ auth }) => auth);
    expect(sent("busybox")).toEqual([
      { serverAddress: "https://mirror.example", username: "m", password: "1" },
      { serverAddress: "https://registry-1.docker.io", username: "d", password: "2" },
    ]);
    expect(sent("r.example:5000/a")).toEqual([{ serverAddress: "https://r.example:5000", identityToken: "t" }]);
    expect(credentialsOfServers("a", "")).toEqual([]);
  });
});
