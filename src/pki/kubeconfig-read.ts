/**
 * Reads a kubeconfig: the server, its authority, the credentials.
 *
 * 1. Embedded data has precedence over a file; relative paths start at the kubeconfig's folder.
 * 2. Unsupported credentials are an error; requests are never sent without them.
 */

import { dirname, resolve } from "node:path";
import type { HttpClientTls } from "#base";
import { PkiError } from "./errors.ts";
import { readIfPresent } from "./files.ts";
import type { ClientCredentials } from "./kubeconfig.ts";
import { extensionIn, LISTS, type ListName, parseKubeconfig } from "./kubeconfig-document.ts";

export interface KubeconfigConnection {
  readonly context: string;
  readonly server: string;
  readonly namespace: string | undefined;
  /** The system's own authorities if undefined. */
  readonly caPem: string | undefined;
  readonly client: ClientCredentials | undefined;
  readonly tlsServerName: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

const UNSUPPORTED = ["exec", "auth-provider", "username"];

export async function readKubeconfig(
  file: string,
  options: { readonly context?: string } = {},
): Promise<KubeconfigConnection> {
  const config = await load(file);
  if (config === undefined) throw new PkiError(`${file} does not exist.`);
  const context = options.context ?? text(config, "current-context");
  if (context === undefined) throw new PkiError(`${file} has no current context: name one.`);

  const entry = (list: ListName, name: string | undefined): Fields => {
    const found = name === undefined ? undefined : find(config, list, name);
    if (found === undefined) throw new PkiError(`${file} has no ${LISTS[list]} "${name ?? ""}".`);
    return found;
  };
  const chosen = entry("contexts", context);
  const cluster = entry("clusters", text(chosen, "cluster"));
  const user = text(chosen, "user") === undefined ? {} : entry("users", text(chosen, "user"));
  const server = text(cluster, "server");
  if (server === undefined) throw new PkiError(`${file} has no server for the context "${context}".`);
  return {
    context,
    server,
    namespace: text(chosen, "namespace"),
    caPem: await pem(file, cluster, "certificate-authority"),
    client: await credentials(file, context, user),
    tlsServerName: text(cluster, "tls-server-name"),
    insecureSkipTlsVerify: cluster["insecure-skip-tls-verify"] === true,
  };
}

export type ConnectionCredentials = Pick<
  KubeconfigConnection,
  "caPem" | "client" | "tlsServerName" | "insecureSkipTlsVerify"
>;

/** The TLS settings and the headers by which an HttpClient presents the user of a kubeconfig. */
export function httpCredentials({ caPem: ca, client, tlsServerName, insecureSkipTlsVerify }: ConnectionCredentials): {
  readonly tls: HttpClientTls;
  readonly headers: Readonly<Record<string, string>>;
} {
  const trust = { ca, serverName: tlsServerName, insecure: insecureSkipTlsVerify };
  if (client === undefined) return { tls: trust, headers: {} };
  if ("token" in client) return { tls: trust, headers: { authorization: `Bearer ${client.token}` } };
  return { tls: { ...trust, cert: client.certPem, key: client.keyPem }, headers: {} };
}

/** Which cluster a context is of. */
export interface KubeconfigCluster {
  readonly server: string | undefined;
  /** Undefined if it is in another file. */
  readonly caPem: string | undefined;
  /** Where the cluster is, if this program wrote the entry. */
  readonly owner: string | undefined;
}

/** Undefined if there is no such file or context. */
export async function kubeconfigCluster(file: string, context: string): Promise<KubeconfigCluster | undefined> {
  const config = await load(file);
  const name = config && text(find(config, "contexts", context) ?? {}, "cluster");
  const cluster = config && find(config, "clusters", name ?? "");
  if (cluster === undefined) return undefined;
  const data = text(cluster, "certificate-authority-data");
  const owner = extensionIn(cluster.extensions)?.owner;
  return {
    server: text(cluster, "server"),
    caPem: data === undefined ? undefined : Buffer.from(data, "base64").toString(),
    owner: typeof owner === "string" ? owner : undefined,
  };
}

type Fields = Readonly<Record<string, unknown>>;

async function load(file: string): Promise<Fields | undefined> {
  const content = await readIfPresent(file);
  return content === undefined ? undefined : fields(parseKubeconfig(file, content).toJS());
}

function find(config: Fields, list: ListName, name: string): Fields | undefined {
  const entries = config[list];
  const found = Array.isArray(entries) ? entries.map(fields).find((entry) => entry.name === name) : undefined;
  return found && fields(found[LISTS[list]]);
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** An empty string counts as absent, as in client-go. */
function text(from: Fields, key: string): string | undefined {
  const value = from[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function credentials(file: string, context: string, user: Fields): Promise<ClientCredentials | undefined> {
  const certPem = await pem(file, user, "client-certificate");
  const keyPem = await pem(file, user, "client-key");
  if (certPem !== undefined && keyPem !== undefined) return { certPem, keyPem };
  if (certPem !== undefined || keyPem !== undefined) {
    throw new PkiError(`${file} has only one of client certificate and key for the context "${context}".`);
  }
  const tokenFile = text(user, "tokenFile");
  const token = tokenFile === undefined ? text(user, "token") : (await referenced(file, "tokenFile", tokenFile)).trim();
  if (token !== undefined) return { token };
  const unsupported = UNSUPPORTED.find((key) => user[key] !== undefined && user[key] !== null);
  if (unsupported === undefined) return undefined;
  throw new PkiError(`${file} uses "${unsupported}" for the context "${context}": only certificates and tokens work.`);
}

async function pem(file: string, from: Fields, key: string): Promise<string | undefined> {
  const data = text(from, `${key}-data`);
  const path = text(from, key);
  if (data === undefined && path === undefined) return undefined;
  const found = data === undefined ? await referenced(file, key, path ?? "") : Buffer.from(data, "base64").toString();
  if (found.includes("-----BEGIN ")) return found;
  throw new PkiError(`${file} has no PEM in ${data === undefined ? `${key} ${path}` : `${key}-data`}.`);
}

async function referenced(file: string, key: string, path: string): Promise<string> {
  const full = resolve(dirname(file), path);
  const found = await readIfPresent(full);
  if (found === undefined) throw new PkiError(`${file} names ${full} as ${key}, which does not exist.`);
  return found;
}
