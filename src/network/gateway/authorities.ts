/** The certificates of authorities that BackendTLSPolicies name: `ca.crt` of ConfigMaps. */
import { X509Certificate } from "node:crypto";
import { type core, kinds } from "#api";
import type { Informer, Informers } from "#client";

export interface Authorities {
  /** ConfigMaps are followed from the first call on: without policies nobody needs them. */
  started(): Promise<void>;
  /** `key`: `namespace/name` of a ConfigMap. */
  authorityOf(key: string): string | undefined;
}

export function followAuthorities(informers: Informers, onChange: () => void): Authorities {
  let configMaps: Informer<core.ConfigMap> | undefined;
  return {
    async started() {
      if (configMaps !== undefined) return configMaps.synced;
      configMaps = informers.of(kinds.ConfigMap);
      await configMaps.synced;
      configMaps.onChange(({ object, old }) => {
        if (authorityIn(object) !== authorityIn(old)) onChange();
      });
    },
    authorityOf: (key) => authorityIn(configMaps?.cache.get(key)),
  };
}

function authorityIn(configMap: core.ConfigMap | undefined): string | undefined {
  return configMap?.data?.["ca.crt"];
}

export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
