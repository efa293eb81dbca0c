/** What other servers need to know of this one's authentication, and since when ServiceAccount tokens are tracked. */
import { formatTime, instantOf, type KubeObject } from "#api";
import type { Wanted } from "../loopback/ensure.ts";

export interface AuthenticationFacts {
  /** Certificates in PEM: who signs the certificates of clients. */
  readonly clientCa?: string | undefined;
  /** For proxies that pass on whom they have authenticated. */
  readonly requestHeader?: { readonly ca: string; readonly allowedNames: readonly string[] } | undefined;
}

export function configMaps(facts: AuthenticationFacts, now: number): readonly Wanted[] {
  const [today] = formatTime(instantOf(now)).split("T");
  const data = authentication(facts);
  return [
    // As the original does, always there, so that others can watch it.
    wanted("extension-apiserver-authentication", data, true),
    wanted("kube-apiserver-legacy-service-account-token-tracking", { since: today ?? "" }, false),
  ];
}

function authentication({ clientCa, requestHeader }: AuthenticationFacts): Readonly<Record<string, string>> {
  return {
    ...(clientCa !== undefined && { "client-ca-file": clientCa }),
    ...(requestHeader !== undefined && {
      "requestheader-allowed-names": JSON.stringify(requestHeader.allowedNames),
      "requestheader-client-ca-file": requestHeader.ca,
      "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
      "requestheader-group-headers": '["X-Remote-Group"]',
      "requestheader-username-headers": '["X-Remote-User"]',
    }),
  };
}

/** Certificates change: those of this start are added to, or replace, what is there. */
function wanted(name: string, data: Readonly<Record<string, string>>, refresh: boolean): Wanted {
  return {
    group: "",
    plural: "configmaps",
    object: {
      metadata: { name, namespace: "kube-system" },
      ...(Object.keys(data).length > 0 && { data }),
    } as KubeObject,
    revise: (found) => {
      const { data: before = {} } = found as KubeObject & { data?: Readonly<Record<string, string>> };
      const stale = Object.entries(data).some(([key, value]) => before[key] !== value);
      return refresh && stale ? ({ ...found, data: { ...before, ...data } } as KubeObject) : undefined;
    },
  };
}
