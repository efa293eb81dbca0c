import { expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import type { Place } from "../isolation/place.ts";
import { nodeNames, siteNames } from "../site/names.ts";
import { startKubelet } from "./kubelet.ts";

it("the credentials of a kubelet are for root alone", async () => {
  const files = nodeNames(siteNames("/home/someone/.k8ts"), "node-1");
  const written = new Map<string, number>();
  const commands: string[] = [];
  const place: Place = {
    files,
    isIsolated: true,
    enter: [],
    run: async (program, args) => {
      commands.push([program, ...args].join(" "));
      return "";
    },
    start: async () => ({ pid: 1, started: "1" }),
    write: async (path, _, mode) => void written.set(path, mode),
    processes: async () => [],
    mounts: async () => [],
  };
  const authority = await createAuthority({ commonName: "test", clock: realClock() });
  const options = { command: ["k8ts"], serverUrl: "https://10.89.0.1:6443", authority, version: "1" };
  await startKubelet(place, ["10.89.0.11"], options);
  expect(commands).toEqual([`mkdir -p -m 700 ${files.kubeletRoot} ${files.certDir} ${files.manifestDir}`]);
  expect(Object.fromEntries(written)).toEqual({
    [files.resolvConf]: 0o644,
    [files.kubeconfig]: 0o600,
    [`${files.certDir}/kubelet.key`]: 0o600,
    [`${files.certDir}/kubelet.crt`]: 0o644,
  });
});
