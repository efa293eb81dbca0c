/** The client and a served driver, over a real socket. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { realClock } from "#base";
import { GrpcError, type GrpcServer } from "#grpc";
import { type CsiDriver, openCsiDriver } from "./client.ts";
import { AccessMode } from "./enums.ts";
import { serveCsi } from "./serve.ts";

let dir: string;
let server: GrpcServer;
let driver: CsiDriver;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "csi-"));
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const implementation = {
    Identity: { Probe: async () => ({ ready: { value: true } }) },
    Controller: {
      CreateVolume: async ({ name, capacityRange, volumeCapabilities }: { name: string } & Record<string, unknown>) => {
        if (name === "") throw new GrpcError("INVALID_ARGUMENT", "name is missing");
        return {
          volume: { volumeId: name, volumeContext: { asked: JSON.stringify([capacityRange, volumeCapabilities]) } },
        };
      },
    },
    SnapshotMetadata: {
      async *GetMetadataAllocated() {
        yield { volumeCapacityBytes: 1 };
        yield { volumeCapacityBytes: 2 };
      },
    },
  };
  server = await serveCsi(endpoint, implementation, { clock: realClock(), onError: () => {} });
  driver = openCsiDriver(endpoint, { clock: realClock() });
});

afterAll(async () => {
  driver.close();
  await server.close();
  await rm(dir, { recursive: true });
});

it("calls a method with all of its fields", async () => {
  expect(await driver.Identity.Probe({})).toEqual({ ready: { value: true } });
  const { volume } = await driver.Controller.CreateVolume({
    name: "a",
    capacityRange: { requiredBytes: 2 ** 40 },
    volumeCapabilities: [{ mount: { mountFlags: ["noatime"] }, accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } }],
  });
  expect(volume).toMatchObject({ volumeId: "a", capacityBytes: "0", contentSource: null, accessibleTopology: [] });
  expect(JSON.parse(volume?.volumeContext.asked ?? "")).toEqual([
    { requiredBytes: String(2 ** 40), limitBytes: "0" },
    [{ block: null, mount: { fsType: "", mountFlags: ["noatime"], volumeMountGroup: "" }, accessMode: { mode: 1 } }],
  ]);
});

it("fails with the driver's code and words", async () => {
  await expect(driver.Controller.CreateVolume({})).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    details: "name is missing",
  });
});

it("a method or service that the driver lacks is unimplemented", async () => {
  await expect(driver.Controller.DeleteVolume({})).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  await expect(driver.Node.NodeGetInfo({})).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
});

it("receives streams", async () => {
  const { signal } = new AbortController();
  const answers = driver.SnapshotMetadata.GetMetadataAllocated({ snapshotId: "s" }, { signal });
  expect(await Array.fromAsync(answers, ({ volumeCapacityBytes }) => volumeCapacityBytes)).toEqual(["1", "2"]);
});
