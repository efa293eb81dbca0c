/**
 * A CSI driver for a Pod of its own, `csi-driver NAME KUBELET_ROOT`: each volume is a tmpfs of 4 MiB. It registers with
 * the kubelet as drivers do, and prints what it is asked to do.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { realClock } from "#base";
import { servedService, serveGrpc } from "#grpc";
import { NodeRpc, serveCsi, UsageUnit } from "#storage";
import { registrationMethods } from "../../../src/kubelet/plugins/index.ts";

const [name = "", root = ""] = process.argv.slice(2);
const clock = realClock();
const onError = (path: string, error: unknown) => console.error(path, error);
const say = (...words: readonly string[]) => console.log(words.join(" "));

const folder = join(root, "plugins", name);
const endpoint = join(folder, "csi.sock");
const registration = join(root, "plugins_registry", `${name}-reg.sock`);

const statsOf = (path: string) => {
  const { bsize, blocks, bavail, bfree, files, ffree } = statfsSync(path);
  return {
    usage: [
      { unit: UsageUnit.BYTES, total: blocks * bsize, available: bavail * bsize, used: (blocks - bfree) * bsize },
      { unit: UsageUnit.INODES, total: files, available: ffree, used: files - ffree },
    ],
  };
};

async function serve(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const socket of [endpoint, registration]) rmSync(socket, { force: true });
  await serveCsi(
    endpoint,
    {
      Node: {
        NodeGetInfo: async () => ({ nodeId: "node-1" }),
        NodeGetCapabilities: async () => ({ capabilities: [{ rpc: { type: NodeRpc.GET_VOLUME_STATS } }] }),
        NodePublishVolume: async ({ volumeId, targetPath }) => {
          mkdirSync(targetPath, { recursive: true });
          if (!isMounted(targetPath)) execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", targetPath]);
          say("published", volumeId);
          return {};
        },
        NodeUnpublishVolume: async ({ volumeId, targetPath }) => {
          if (isMounted(targetPath)) execFileSync("umount", [targetPath]);
          rmdirSync(targetPath);
          say("unpublished", volumeId);
          return {};
        },
        NodeGetVolumeStats: async ({ volumePath }) => statsOf(volumePath),
      },
    },
    { clock, onError },
  );
  const service = servedService(registrationMethods(), {
    GetInfo: async () => ({ type: "CSIPlugin", name, endpoint, supportedVersions: ["1.0.0"] }),
    NotifyRegistrationStatus: async ({ error }) => {
      say("registered", error);
      return {};
    },
  });
  await serveGrpc(registration, [service], { clock, onError });
}

function isMounted(path: string): boolean {
  return execFileSync("cat", ["/proc/mounts"]).toString().includes(` ${path} `);
}

serve().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
