/** How an API server serves connections and requests: flags as they are given, and what they mean to the server. */
import type { ServingOptions } from "#apiserver";
import type { Logger } from "#base";
import type { NamedCertificateFiles } from "./named-certificates.ts";
import { insecureSuites, type TlsFlags, tlsSettings } from "./tls-settings.ts";

export interface ServingSettings extends Omit<ServingOptions, "tls"> {
  readonly tls?: TlsFlags | undefined;
  readonly namedCertificates?: readonly NamedCertificateFiles[] | undefined;
}

/** Throws ClusterError. */
export function servingOptions(settings: ServingSettings = {}, log: Logger): ServingOptions {
  const { tls = {}, namedCertificates: _, ...options } = settings;
  for (const name of insecureSuites(tls)) log.warn(`Use of insecure cipher '${name}' detected.`);
  return { ...options, tls: tlsSettings(tls, options.http2?.disabled !== true) };
}
