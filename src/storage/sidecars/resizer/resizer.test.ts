/** The running resizer and modifier, with the provisioner, on virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { GrpcError } from "#grpc";
import { oneForAll } from "../driver-controllers.ts";
import { volumeModifier } from "../modifier/index.ts";
import { provisioner } from "../provisioner/index.ts";
import { scriptedDriver } from "../testing/scripted-driver.ts";
import { volumeStory } from "../testing/story.ts";
import { RESIZER_ACCOUNT, resizer } from "./index.ts";

const NAME = "example.com";
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster() {
  const script = scriptedDriver();
  const drivers = oneForAll(NAME, script.driver);
  const sidecars = [
    ...provisioner({ drivers }),
    resizer({ drivers }),
    volumeModifier({ drivers, account: RESIZER_ACCOUNT }),
  ];
  const story = await volumeStory(sidecars);
  open.push(() => story.close());
  const { claims, volumes, client, settle } = story;
  await story.addClass({ allowVolumeExpansion: true });
  return {
    ...story,
    script,
    async grow(storage: string) {
      await claims.patch("data", { type: "merge", object: { spec: { resources: { requests: { storage } } } } });
      await settle();
    },
    async addAttributes(name: string, driverName = NAME) {
      const parameters = { iops: name };
      await client.of(kinds.VolumeAttributesClass).create({ metadata: { name }, driverName, parameters });
      await settle();
    },
    async choose(volumeAttributesClassName: string) {
      await claims.patch("data", { type: "merge", object: { spec: { volumeAttributesClassName } } });
      await settle();
    },
    status: async () => (await claims.get("data")).status,
    volume: async () => (await volumes.list()).items[0],
  };
}

describe("a claim that grows", () => {
  it("has a larger volume, and waits for its node", async () => {
    const { addClaim, grow, status, volume, events } = await cluster();
    await addClaim();
    await grow("2Gi");
    expect(await status()).toMatchObject({
      capacity: { storage: "1Gi" },
      allocatedResources: { storage: "2Gi" },
      allocatedResourceStatuses: { storage: "NodeResizePending" },
      conditions: [{ type: "FileSystemResizePending", status: "True" }],
    });
    expect((await volume())?.spec?.capacity).toEqual({ storage: "2Gi" });
    expect((await volume())?.metadata.annotations).toMatchObject({
      "volume.alpha.kubernetes.io/pre-resize-capacity": "1Gi",
    });
    expect((await events()).filter((text) => /esiz/.test(text))).toEqual([
      "FileSystemResizeRequired: Require file system resize of volume on node",
      `Resizing: External resizer is resizing volume ${(await volume())?.metadata.name}`,
    ]);
  });

  it("has a larger block volume at once", async () => {
    const { addClaim, grow, status, reasons } = await cluster();
    await addClaim("data", { volumeMode: "Block" });
    await grow("2Gi");
    expect(await status()).toMatchObject({ capacity: { storage: "2Gi" }, allocatedResources: { storage: "2Gi" } });
    expect((await status())?.allocatedResourceStatuses).toBeUndefined();
    expect((await status())?.conditions).toBeUndefined();
    expect(await reasons()).toContain("VolumeResizeSuccessful");
  });

  it("too far can be taken back", async () => {
    const { addClaim, grow, status, script, pass, events } = await cluster();
    await addClaim();
    script.fail("ControllerExpandVolume", ({ capacityRange }) =>
      Number((capacityRange as { requiredBytes: string }).requiredBytes) > 2 ** 33
        ? new GrpcError("OUT_OF_RANGE", "too large")
        : undefined,
    );
    await grow("9Gi");
    expect(await status()).toMatchObject({
      allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" },
      conditions: [{ type: "ControllerResizeError", status: "True" }],
    });
    await pass(60_000);
    expect(script.called("ControllerExpandVolume")).toBe(1);
    expect((await events()).some((text) => text.includes("too large"))).toBe(true);
    await grow("3Gi");
    expect(await status()).toMatchObject({
      allocatedResources: { storage: "3Gi" },
      allocatedResourceStatuses: { storage: "NodeResizePending" },
    });
  });

  it("is tried again with growing waits while the driver is away", async () => {
    const { addClaim, grow, status, script, pass } = await cluster();
    await addClaim();
    script.fail("ControllerExpandVolume", () => new GrpcError("UNAVAILABLE", "away"));
    await grow("2Gi");
    await pass(4_000);
    expect(script.called("ControllerExpandVolume")).toBe(3);
    script.fail("ControllerExpandVolume", () => undefined);
    await pass(5_000);
    expect((await status())?.allocatedResourceStatuses).toEqual({ storage: "NodeResizePending" });
  });

  it("waits until no Pod uses it, where the driver needs that", async () => {
    const { addClaim, grow, status, script, pass, client, settle, events } = await cluster();
    await addClaim();
    const pods = client.of(kinds.Pod).in("default");
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    await pods.create({
      metadata: { name: "p" },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }], volumes },
    });
    script.fail("ControllerExpandVolume", () => new GrpcError("FAILED_PRECONDITION", "in use"));
    await grow("2Gi");
    await pass(30_000);
    expect(script.called("ControllerExpandVolume")).toBe(1);
    expect((await events()).some((text) => text.includes("only supports offline expansion"))).toBe(true);
    script.fail("ControllerExpandVolume", () => undefined);
    await pods.delete("p", { gracePeriodSeconds: 0 });
    await settle();
    expect((await status())?.allocatedResourceStatuses).toEqual({ storage: "NodeResizePending" });
  });
});

describe("a VolumeAttributesClass", () => {
  it("of a new claim is passed on when its volume is made", async () => {
    const { addClaim, addAttributes, script, volume } = await cluster();
    await addAttributes("gold");
    await addClaim("data", { volumeAttributesClassName: "gold" });
    expect(script.calls.find(({ method }) => method === "CreateVolume")?.request).toMatchObject({
      mutableParameters: { iops: "gold" },
    });
    expect((await volume())?.spec?.volumeAttributesClassName).toBe("gold");
    expect(script.called("ControllerModifyVolume")).toBe(0);
  });

  it("changes the volume", async () => {
    const { addClaim, addAttributes, choose, status, volume, script, events } = await cluster();
    await addAttributes("gold");
    await addClaim();
    await choose("gold");
    expect(script.called("ControllerModifyVolume")).toBe(1);
    expect(await status()).toMatchObject({ currentVolumeAttributesClassName: "gold" });
    expect((await status())?.modifyVolumeStatus).toBeUndefined();
    expect((await status())?.conditions).toBeUndefined();
    expect((await volume())?.spec?.volumeAttributesClassName).toBe("gold");
    expect(await events()).toContain(
      "VolumeModifySuccessful: external resizer modified volume data with vac gold successfully",
    );
  });

  it("that is missing is waited for", async () => {
    const { addClaim, addAttributes, choose, status } = await cluster();
    await addClaim();
    await choose("gold");
    expect((await status())?.modifyVolumeStatus).toEqual({
      status: "Pending",
      targetVolumeAttributesClassName: "gold",
    });
    await addAttributes("gold");
    expect(await status()).toMatchObject({ currentVolumeAttributesClassName: "gold" });
  });

  it("that is refused is infeasible, and another one is tried at once", async () => {
    const { addClaim, addAttributes, choose, status, script, pass } = await cluster();
    await addClaim();
    await addAttributes("gold");
    await addAttributes("tin");
    script.fail("ControllerModifyVolume", ({ mutableParameters }) =>
      (mutableParameters as { iops: string }).iops === "gold"
        ? new GrpcError("INVALID_ARGUMENT", "no gold")
        : undefined,
    );
    await choose("gold");
    expect(await status()).toMatchObject({
      modifyVolumeStatus: { status: "Infeasible", targetVolumeAttributesClassName: "gold" },
      conditions: [{ type: "ModifyVolumeError", message: expect.stringContaining("no gold") }],
    });
    await pass(60_000);
    expect(script.called("ControllerModifyVolume")).toBe(1);
    await choose("tin");
    expect(await status()).toMatchObject({ currentVolumeAttributesClassName: "tin" });
  });
});
