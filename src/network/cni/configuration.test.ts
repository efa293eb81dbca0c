import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { networkIn, parseNetwork } from "./configuration.ts";

describe("the configuration of a network", () => {
  it("is a list of plugins, each with its own settings", () => {
    const network = parseNetwork(
      JSON.stringify({
        cniVersion: "1.0.0",
        name: "pods",
        plugins: [
          { type: "ptp", ipam: { type: "host-local" } },
          { type: "portmap", capabilities: { portMappings: true, other: false }, snat: true },
        ],
      }),
    );
    expect(network).toEqual({
      cniVersion: "1.0.0",
      name: "pods",
      disableCheck: false,
      plugins: [
        { type: "ptp", capabilities: new Set(), settings: { type: "ptp", ipam: { type: "host-local" } } },
        { type: "portmap", capabilities: new Set(["portMappings"]), settings: { type: "portmap", snat: true } },
      ],
    });
  });

  it("may be a single plugin", () => {
    const { plugins, cniVersion } = parseNetwork(JSON.stringify({ name: "lo", type: "loopback" }));
    expect(plugins).toEqual([{ type: "loopback", capabilities: new Set(), settings: { type: "loopback" } }]);
    expect(cniVersion).toBe("0.1.0");
  });

  it.each([
    { text: "{", want: /the configuration is not JSON/, code: 6 },
    { text: "[]", want: "the configuration is not an object", code: 7 },
    { text: '{"type":"ptp"}', want: "the network has no usable name: nothing", code: 7 },
    { text: '{"name":"../etc","type":"ptp"}', want: 'the network has no usable name: "../etc"', code: 7 },
    { text: '{"name":"a","plugins":[]}', want: 'network "a" has no plugins', code: 7 },
    { text: '{"name":"a","plugins":[{}]}', want: "a plugin has no usable type: nothing", code: 7 },
    { text: '{"name":"a","type":"../../bin/sh"}', want: 'a plugin has no usable type: "../../bin/sh"', code: 7 },
    { text: '{"name":"a","type":"ptp","cniVersion":1}', want: "cniVersion is not a string: 1", code: 7 },
  ])("refuses $text", ({ text, want, code }) => {
    expect(() => parseNetwork(text)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(want) }));
  });

  it("is the first of its folder by name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "k8ts-cni-conf-"));
    try {
      expect(await networkIn(join(folder, "missing"))).toBeUndefined();
      expect(await networkIn(folder)).toBeUndefined();
      for (const [file, name] of [
        ["20-b.conf", "b"],
        ["10-a.conflist", "a"],
        ["00-notes.txt", "notes"],
      ] as const)
        writeFileSync(join(folder, file), JSON.stringify({ name, type: "loopback" }));
      expect((await networkIn(folder))?.name).toBe("a");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
