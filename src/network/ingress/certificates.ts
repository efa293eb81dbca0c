/**
 * Which certificate a client is shown, by the name that it asks for.
 *
 * 1. Ingresses say which hosts a Secret is for; one that says none is for all hosts that its rules have.
 * 2. The very name counts before a wildcard; nobody's name gets the default certificate.
 * 3. A Secret that cannot be read costs its own hosts their certificate, and nobody else's.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import type { core, networking } from "#api";
import { objectKey } from "#client";
import type { ListenerCertificate } from "../gateway/index.ts";
import { hostOf, type RouteProblem, wildcardOf } from "./routes.ts";

export interface CertificatePem {
  readonly certPem: string;
  readonly keyPem: string;
}

type Ingress = networking.Ingress;

export class Certificates {
  /** By Secret: a context is made once for each of its versions. */
  readonly #contexts = new Map<string, { readonly version: string; readonly context: SecureContext }>();
  readonly #default: SecureContext | undefined;
  #byHost: ReadonlyMap<string, SecureContext> = new Map();
  #listeners: readonly ListenerCertificate[] = [];

  constructor(standard?: CertificatePem) {
    this.#default = standard && contextOf(standard);
  }

  /** Those of Gateways: shown from the next update on. One without a host is for all that nobody else has one for. */
  setListeners(listeners: readonly ListenerCertificate[]): void {
    this.#listeners = listeners;
  }

  /** What is wrong with them comes back; handshakes from now on see the new ones. */
  update(ingresses: readonly Ingress[], secretOf: (key: string) => core.Secret | undefined): RouteProblem[] {
    const problems: RouteProblem[] = [];
    const byHost = new Map<string, SecureContext>();
    const used = new Set<string>();
    const show = (owner: string, key: string, hosts: readonly string[]) => {
      used.add(key);
      const context = this.#contextOf(key, secretOf(key));
      if (typeof context === "string") {
        problems.push({ ingress: owner, reason: "BadCertificate", message: `Secret ${key}: ${context}` });
        return;
      }
      for (const host of hosts) {
        const name = host.toLowerCase();
        if (!byHost.has(name)) byHost.set(name, context);
      }
    };
    for (const ingress of ingresses) {
      for (const { hosts = [], secretName = "" } of ingress.spec?.tls ?? []) {
        if (secretName === "") continue;
        const key = `${ingress.metadata.namespace}/${secretName}`;
        show(objectKey(ingress), key, hosts.length > 0 ? hosts : hostsOf(ingress));
      }
    }
    for (const { gateway, host, secret } of this.#listeners) show(gateway, secret, [host]);
    for (const key of this.#contexts.keys()) if (!used.has(key)) this.#contexts.delete(key);
    this.#byHost = byHost;
    return problems;
  }

  find(serverName: string): SecureContext | undefined {
    const host = hostOf(serverName);
    return this.#byHost.get(host) ?? this.#byHost.get(wildcardOf(host) ?? "") ?? this.#byHost.get("") ?? this.#default;
  }

  /** What is wrong, if it cannot be used. */
  #contextOf(key: string, secret: core.Secret | undefined): SecureContext | string {
    if (secret === undefined) return "there is no such Secret of type kubernetes.io/tls";
    const { uid = "", resourceVersion = "" } = secret.metadata;
    const version = `${uid} ${resourceVersion}`;
    const known = this.#contexts.get(key);
    if (known?.version === version) return known.context;
    const [certPem, keyPem] = [decoded(secret, "tls.crt"), decoded(secret, "tls.key")];
    if (certPem === "" || keyPem === "") return "it has no tls.crt and tls.key";
    try {
      const context = contextOf({ certPem, keyPem });
      this.#contexts.set(key, { version, context });
      return context;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function contextOf({ certPem, keyPem }: CertificatePem): SecureContext {
  return createSecureContext({ cert: certPem, key: keyPem, minVersion: "TLSv1.2" });
}

function decoded({ data }: core.Secret, name: string): string {
  return Buffer.from(data?.[name] ?? "", "base64").toString();
}

function hostsOf({ spec }: Ingress): string[] {
  return (spec?.rules ?? []).flatMap(({ host }) => (host === undefined || host === "" ? [] : [host]));
}
