/**
 * Asks kubelets over HTTPS, at the address of their Node.
 *
 * 1. The kubelet's certificate is verified, and it decides who may read: by a client certificate or a token.
 * 2. A request is bounded in time and size, and redirects are not followed.
 */
import type { core } from "#api";
import { addressText, type Clock, HttpClient, httpFailureText } from "#base";
import type { Scraper } from "./scraper.ts";

const PATH = "/metrics/resource";
const MAX_BYTES = 32 * 1024 * 1024;
export const KUBELET_PORT = 10250;
export const ADDRESS_TYPES: readonly string[] = ["InternalIP", "Hostname", "InternalDNS", "ExternalDNS", "ExternalIP"];

interface Identity {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface KubeletScraperOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** PEM: the authority of the kubelets' certificates. */
  readonly ca?: string | undefined;
  readonly insecure?: boolean | undefined;
  /** The client certificate and its key, in PEM, as of now. */
  readonly certificate?: (() => Identity) | undefined;
  readonly token?: (() => string | undefined) | undefined;
  /** The port of kubelets. Default: that of the Node's status, else 10250. */
  readonly port?: number | undefined;
  /** Which addresses of a Node are used, preferred first. */
  readonly addressTypes?: readonly string[] | undefined;
}

export interface KubeletScraper {
  readonly scrape: Scraper;
  close(): void;
}

export function kubeletScraper(options: KubeletScraperOptions): KubeletScraper {
  const { clock, timeoutMs, ca, insecure, certificate, token, addressTypes = ADDRESS_TYPES } = options;
  const clientWith = (identity: Identity | undefined) => {
    const tls = { ca, insecure, cert: identity?.certPem, key: identity?.keyPem };
    return { certPem: identity?.certPem, http: new HttpClient({ clock, timeoutMs, maxResponseBytes: MAX_BYTES, tls }) };
  };
  let current = clientWith(certificate?.());
  /** A renewed certificate needs new connections. */
  const client = () => {
    const identity = certificate?.();
    if (identity?.certPem !== current.certPem) {
      current.http.close();
      current = clientWith(identity);
    }
    return current.http;
  };
  return {
    scrape: async (node, signal) => {
      const address = addressOf(node, addressTypes, options.port);
      const bearer = token?.();
      const url = `https://${addressText(address)}${PATH}`;
      const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
      const answer = await client().send({ url, headers, signal });
      if (!answer.ok) throw new Error(`Get "${url}": ${httpFailureText(answer)}`);
      if (answer.status !== 200) throw new Error(`request failed, status: "${answer.status}"`);
      return answer.body.toString("utf8");
    },
    close: () => current.http.close(),
  };
}

/** Throws if the Node has no usable address. */
export function addressOf({ metadata, status }: core.Node, types: readonly string[], port?: number) {
  const { addresses = [], daemonEndpoints } = status ?? {};
  for (const wanted of types) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found !== undefined)
      return { host: found.address, port: port ?? (daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT) };
  }
  throw new Error(`node ${metadata.name} has no address of the types ${types.join(", ")}`);
}
