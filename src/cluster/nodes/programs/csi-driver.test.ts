/** The command line of a node's CSI driver. */
import { expect, it } from "vitest";
import { insideNames, nodeNames, siteNames } from "../site/names.ts";
import { csiDriverArgs, csiDriverProblem, csiDriverStart } from "./csi-driver.ts";

const names = nodeNames(siteNames("/home/someone/.k8ts"), "node-1");
const options = { command: ["k8ts"], version: "1" };

it("in a node of its own: its loop devices, and no block devices for Pods", () => {
  expect(csiDriverArgs(insideNames(names), { first: 2048, isOpen: false })).toEqual([
    "csi-driver",
    "--endpoint=unix:///var/lib/kubelet/plugins/local.csi.k8ts.dev/csi.sock",
    "--node-id=node-1",
    "--state-dir=/var/lib/k8ts-volumes",
    "--registration-dir=/var/lib/kubelet/plugins_registry",
    "--loop-devices=2048-2111",
    "--loop-device-dir=/dev/k8ts-volumes",
    "--no-block-volumes",
  ]);
  expect(csiDriverArgs(insideNames(names), { first: 2048, isOpen: true })).not.toContain("--no-block-volumes");
});

it("of a node with a user namespace: on the machine, with what the node cannot write to", () => {
  const outside = { init: { pid: 77, started: "boot 1234" }, ids: { first: 1_073_741_824, size: 65_536 } };
  const node = insideNames(names);
  const { dir, folder, deviceDir } = node.outsideVolumes;
  const args = csiDriverArgs(node, { first: 2048, isOpen: true, outside }, ["nsenter", "--target=77"]);
  const place = { pid: 77, startTicks: "1234", enter: ["nsenter", "--target=77"], folder };
  expect(args).toEqual([
    "csi-driver",
    `--endpoint=unix://${folder}/csi.sock`,
    "--node-id=node-1",
    "--state-dir=/home/someone/.k8ts/nodes/node-1/volumes",
    `--registration-dir=${folder}`,
    "--kubelet-registration-path=/run/k8ts-volumes/csi.sock",
    `--node-place=${JSON.stringify({ ...place, folderInside: "/run/k8ts-volumes", rootId: 1_073_741_824 })}`,
    "--loop-devices=2048-2111",
    `--loop-device-dir=${deviceDir}`,
  ]);
  expect(dir.startsWith(names.diskDir)).toBe(false);
  const longest = nodeNames(siteNames("/home/someone/.k8ts"), "a".repeat(63)).outsideVolumes.folder;
  expect(`${longest}/local.csi.k8ts.dev-reg.sock`.length).toBeLessThan(108);
});

it("in a node that shares the machine's files: any loop device, unless its socket's path is too long", () => {
  expect(csiDriverArgs(names, undefined).join(" ")).not.toMatch(/loop|block/);
  expect(csiDriverProblem(names)).toBeUndefined();
  expect(csiDriverProblem(nodeNames(siteNames(`/home/${"x".repeat(60)}`), "node-1"))).toContain("too long");
});

it("is replaced by one of another version or with other devices", () => {
  const loops = { first: 2048, isOpen: false };
  const start = csiDriverStart(names, loops, options);
  expect(csiDriverStart(names, { ...loops }, options)).toBe(start);
  expect(csiDriverStart(names, { first: 4096, isOpen: false }, options)).not.toBe(start);
  expect(csiDriverStart(names, { first: 2048, isOpen: true }, options)).not.toBe(start);
  expect(csiDriverStart(names, loops, { ...options, version: "2" })).not.toBe(start);
  const outside = (pid: number) => ({ init: { pid, started: `boot ${pid}` }, ids: { first: 1 << 30, size: 65_536 } });
  const beside = csiDriverStart(names, { ...loops, outside: outside(7) }, options);
  expect(beside).not.toBe(start);
  // After a power failure of its node.
  expect(csiDriverStart(names, { ...loops, outside: outside(8) }, options)).not.toBe(beside);
});
