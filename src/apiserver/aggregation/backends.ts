/**
 * The extension servers that APIServices name, by the name of the APIService.
 *
 * 1. Connections follow the current spec of the APIService: when it changes, the old connections are cut.
 */
import { X509Certificate } from "node:crypto";
import type { Clock, Dial, NetworkAddress } from "#base";
import { type ApiService, serviceOf } from "./api-service.ts";
import { Backend, type Identity } from "./backend.ts";
import { LocalBackend, type LocalExtensions } from "./local-backend.ts";

export interface BackendsOptions {
  readonly identity: () => Identity | undefined;
  /** Where a Service can be reached now. Throws if nowhere, in words for the client. */
  readonly resolve: (namespace: string, name: string, port: number) => NetworkAddress;
  readonly clock: Clock;
  /** Certificates are not verified: for probes that carry no secret and whose answers are not trusted. */
  readonly toAnyone?: boolean;
  readonly local?: LocalExtensions | undefined;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

/** No connection can be made from the spec of the APIService. */
export class BackendFault extends Error {
  override readonly name = "BackendFault";
}

export interface Reached {
  readonly backend: Pick<Backend, "send" | "upgrade">;
  readonly address: NetworkAddress;
}

interface Made {
  readonly from: string;
  readonly backend: Backend;
}

export class Backends {
  readonly #options: BackendsOptions;
  readonly #made = new Map<string, Made>();

  constructor(options: BackendsOptions) {
    this.#options = options;
  }

  /** For an APIService with a Service. Throws BackendFault. */
  of(name: string, service: ApiService): Backend {
    const { toAnyone = false, identity, clock, dial } = this.#options;
    const { spec } = service;
    const insecure = toAnyone || spec?.insecureSkipTLSVerify === true;
    const caBundle = toAnyone ? "" : (spec?.caBundle ?? "");
    const at = serviceOf(service);
    const serverName = `${at?.name}.${at?.namespace}.svc`;
    const from = `${serverName} ${insecure} ${caBundle}`;
    const found = this.#made.get(name);
    if (found?.from === from) return found.backend;
    const ca = authoritiesIn(caBundle);
    this.forget(name);
    const backend = new Backend({ serverName, ca, insecure, identity, clock, dial });
    this.#made.set(name, { from, backend });
    return backend;
  }

  /** Throws BackendFault, or a StatusError if the Service has no endpoint. */
  reach(name: string, service: ApiService): Reached {
    const at = serviceOf(service);
    if (at === undefined) throw new Error(`${name} is local`);
    const local = this.#options.local?.get(`${at.namespace}/${at.name}`);
    if (local !== undefined)
      return { backend: new LocalBackend(local), address: { host: `${at.name}.${at.namespace}.svc`, port: at.port } };
    return { backend: this.of(name, service), address: this.#options.resolve(at.namespace, at.name, at.port) };
  }

  /** Whether an extension server of this process stands behind the Service. */
  isLocal({ namespace, name }: { readonly namespace: string; readonly name: string }): boolean {
    return this.#options.local?.has(`${namespace}/${name}`) === true;
  }

  forget(name: string): void {
    this.#made.get(name)?.backend.close();
    this.#made.delete(name);
  }

  close(): void {
    for (const name of [...this.#made.keys()]) this.forget(name);
  }
}

/** Undefined: there is no bundle. */
function authoritiesIn(caBundle: string): string | undefined {
  if (caBundle === "") return undefined;
  const pem = Buffer.from(caBundle, "base64").toString("utf8");
  try {
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    const message = "unable to load root certificates: unable to parse bytes as PEM block";
    throw new BackendFault(message, { cause: error });
  }
}
