/**
 * Which certificate a client gets, by its SNI name.
 *
 * 1. Ingresses name the hosts of a Secret; without hosts, it is for all hosts of the Ingress' rules.
 * 2. An exact name goes before a wildcard; other names get the default certificate.
 * 3. A bad Secret costs only its own hosts their certificate.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import type { core, networking } from "#api";
import { objectKey } from "#client";
import type { ListenerCertificate } from "../gateway/index.ts";
import { hostOf, wildcardOf } from "../http/route.ts";
import type { CertificatePem } from "../http/server.ts";
import type { RouteProblem } from "./routes.ts";

type Ingress = networking.Ingress;

export class Certificates {
  /** By Secret: one context for each of its versions. */
  readonly #contexts = new Map<string, { readonly version: string; readonly context: SecureContext }>();
  readonly #default: SecureContext | undefined;
  #byHost: ReadonlyMap<string, SecureContext> = new Map();
  #listeners: readonly ListenerCertificate[] = [];

  constructor(standard?: CertificatePem) {
    this.#default = standard && contextOf(standard);
  }

  /** Certificates of Gateways, used from the next update on. One without a host is the fallback for all hosts. */
  setListeners(listeners: readonly ListenerCertificate[]): void {
    this.#listeners = listeners;
  }

  /** Returns the problems. Later handshakes use the new certificates. */
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

  /** The context, or why there is none. */
  #contextOf(key: string, secret: core.Secret | undefined): SecureContext | string {
    if (secret === undefined) return "there is no such Secret of type kubernetes.io/tls";
    const { uid = "", resourceVersion = "" } = secret.metadata;
    const version = `${uid} ${resourceVersion}`;
    const known = this.#contexts.get(key);
    if (known?.version === version) return known.context;
    const [certPem, keyPem] = [decoded(secret, "tls.crt"), decoded(secret, "tls.key")];
    if (certPem === "" || keyPem === "") return "tls.crt or tls.key is missing";
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
