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
});
