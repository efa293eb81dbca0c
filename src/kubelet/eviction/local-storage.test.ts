import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { core } from "#api";
import { diskUse } from "../host/index.ts";
import { hasStorageLimit, storageProblem } from "./local-storage.ts";

const MI = 1024 * 1024;
const pod = (volumes: core.Volume[], limit?: string): core.Pod => ({
  metadata: { name: "web" },
  spec: {
    volumes,
    containers: [
      { name: "app", ...(limit !== undefined && { resources: { limits: { "ephemeral-storage": limit } } }) },
      { name: "side", ...(limit !== undefined && { resources: { limits: { "ephemeral-storage": limit } } }) },
    ],
  },
});
const data = (emptyDir: core.EmptyDirVolumeSource): core.Volume[] => [{ name: "data", emptyDir }];

describe("a pod's use of the node's disk", () => {
  it.each<{
    readonly name: string;
    readonly given: core.Pod;
    readonly volume?: number;
    readonly app?: number;
    readonly side?: number;
    readonly want: string | undefined;
  }>([
    { name: "no limits", given: pod(data({})), volume: 1e12, app: 1e12, want: undefined },
    { name: "as much as the volume may", given: pod(data({ sizeLimit: "1Mi" })), volume: MI, want: undefined },
    {
      name: "more than the volume may",
      given: pod(data({ sizeLimit: "1Mi" })),
      volume: MI + 1,
      want: 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ',
    },
    { name: "a limit of zero is none", given: pod(data({ sizeLimit: "0" })), volume: MI, want: undefined },
    {
      name: "all together more than the containers may",
      given: pod(data({}), "1Mi"),
      volume: MI,
      app: MI / 2,
      side: MI,
      want: "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ",
    },
    {
      name: "memory is no disk",
      given: pod(data({ medium: "Memory" }), "1Mi"),
      volume: 3 * MI,
      app: MI,
      want: undefined,
    },
    {
      name: "one container more than it may",
      given: pod(data({}), "1Mi"),
      app: MI + 1,
      want: 'Container app exceeded its local ephemeral storage limit "1Mi". ',
    },
  ])("$name", ({ given, volume = 0, app = 0, side = 0, want }) => {
    const containers = new Map([
      ["app", app],
      ["side", side],
    ]);
    expect(storageProblem(given, { volumes: new Map([["data", volume]]), containers })?.message).toBe(want);
  });

  it("is measured only where there is a limit", () => {
    expect([pod([]), pod(data({})), pod(data({ sizeLimit: "1Mi" })), pod([], "1Mi")].map(hasStorageLimit)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  describe("of a folder", () => {
    const folder = mkdtempSync(join(tmpdir(), "k8ts-disk-"));
    afterAll(() => rmSync(folder, { recursive: true }));

    it("counts files below it once, and nothing where there is none", async () => {
      mkdirSync(join(folder, "deep"));
      writeFileSync(join(folder, "deep", "file"), Buffer.alloc(MI, 1));
      const once = await diskUse(folder);
      expect(once.bytes).toBeGreaterThanOrEqual(MI);
      expect(once.inodes).toBe(3);
      linkSync(join(folder, "deep", "file"), join(folder, "again"));
      const twice = await diskUse(folder);
      expect(twice).toEqual(once);
      expect(await diskUse(join(folder, "none"))).toEqual({ bytes: 0, inodes: 0 });
    });
  });
});
