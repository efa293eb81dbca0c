/** Sockets of drivers below a directory that is not trusted. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import type { GrpcServer } from "#grpc";
import { serveCsi } from "#storage/csi";
import { driverBehind, openSocket } from "./driver-sockets.ts";

const PATH = "plugins/example.com/csi.sock";
let disk: string;
let outside: string;
let server: GrpcServer | undefined;

beforeEach(async () => {
  disk = await mkdtemp(join(tmpdir(), "disk-"));
  outside = await mkdtemp(join(tmpdir(), "outside-"));
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(disk, { recursive: true, force: true });
  await rm(outside, { recursive: true, force: true });
});

async function serveAt(path: string, name = "example.com"): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  const Identity = { GetPluginInfo: async () => ({ name, vendorVersion: "1" }) };
  server = await serveCsi(`unix://${path}`, { Identity }, { clock: realClock(), onError: () => {} });
}

describe.skipIf(process.platform !== "linux")("a driver's socket", () => {
  it("is called, also after the driver was restarted with a new one", async () => {
    let back = 0;
    const driver = driverBehind({ where: () => ({ dir: disk, path: PATH }), clock: realClock(), onBack: () => back++ });
    await expect(driver.Identity.GetPluginInfo({})).rejects.toThrow("there is no socket");
    await serveAt(join(disk, PATH));
    expect((await driver.Identity.GetPluginInfo({})).name).toBe("example.com");
    expect(back).toBe(1);
    await server?.close();
    await rm(join(disk, PATH), { force: true });
    await expect(driver.Identity.GetPluginInfo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await serveAt(join(disk, PATH), "again.example.com");
    expect((await driver.Identity.GetPluginInfo({})).name).toBe("again.example.com");
    driver.close();
  });

  it.each<[string, () => Promise<void>]>([
    ["a link to a socket", () => symlink(join(outside, "csi.sock"), join(disk, PATH))],
    ["a file", () => writeFile(join(disk, PATH), "")],
  ])("is not %s", async (_, make) => {
    await serveAt(join(outside, "csi.sock"));
    await mkdir(join(disk, PATH, ".."), { recursive: true });
    await make();
    await expect(openSocket({ dir: disk, path: PATH })).rejects.toThrow("is no socket");
  });

  it("is not below a link to another directory", async () => {
    await serveAt(join(outside, "example.com/csi.sock"));
    await symlink(outside, join(disk, "plugins"));
    await expect(openSocket({ dir: disk, path: PATH })).rejects.toThrow("leads through a link");
    await expect(openSocket({ dir: disk, path: "../x/csi.sock" })).rejects.toThrow("is not a plain path");
  });
});
