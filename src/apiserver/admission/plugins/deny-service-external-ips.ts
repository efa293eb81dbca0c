/** DenyServiceExternalIPs: a Service may keep its externalIPs, but not add new ones. */
import type { core } from "#api";
import { type AdmissionPlugin, refused, rule } from "../chain/plugin.ts";

export const denyServiceExternalIPs: AdmissionPlugin = {
  name: "DenyServiceExternalIPs",
  validates: [
    rule("CREATE UPDATE", "services", (attributes) => {
      const addresses = (service: unknown) => (service as core.Service | undefined)?.spec?.externalIPs ?? [];
      const known = addresses(attributes.old);
      if (addresses(attributes.object).every((address) => known.includes(address))) return;
      throw refused(attributes, "Use of external IPs is denied by admission control.");
    }),
  ],
};
