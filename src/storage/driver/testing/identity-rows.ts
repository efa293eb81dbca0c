/** What CSI asks of every driver's Identity service. */
import { expect } from "vitest";
import { PluginService, VolumeExpansion } from "../../csi/enums.ts";
import type { Row } from "./kit.ts";

export const identityRows: readonly Row[] = [
  {
    name: "GetPluginInfo: a name like a domain, and a version",
    async run({ driver }) {
      const { name, vendorVersion } = await driver.Identity.GetPluginInfo({});
      expect(name).toMatch(/^[a-zA-Z0-9][-a-zA-Z0-9.]{0,61}[a-zA-Z0-9]$/);
      expect(vendorVersion).not.toBe("");
    },
  },
  {
    name: "GetPluginCapabilities: only those that the specification has",
    async run({ driver }) {
      const { capabilities } = await driver.Identity.GetPluginCapabilities({});
      const known = new Set<number>([...Object.values(PluginService), ...Object.values(VolumeExpansion)]);
      const types = capabilities.map(({ service, volumeExpansion }) => service?.type ?? volumeExpansion?.type ?? 0);
      expect(types).not.toContain(0);
      expect(types.every((type) => known.has(type))).toBe(true);
      expect(capabilities.map(({ service }) => service?.type)).toContain(PluginService.CONTROLLER_SERVICE);
    },
  },
  {
    name: "Probe: ready",
    async run({ driver }) {
      expect(await driver.Identity.Probe({})).toEqual({ ready: { value: true } });
    },
  },
];
