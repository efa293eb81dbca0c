/**
 * Kubeconfigs as values, and the user's own kubeconfig file.
 *
 * 1. Certificates and keys are embedded: a kubeconfig needs no other file.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { KeyPair } from "./authority.ts";
import { ensurePrivateFolder, PRIVATE_FILE, writeFiles } from "./files.ts";

export interface Kubeconfig {
  readonly apiVersion: "v1";
  readonly kind: "Config";
  readonly clusters: readonly { readonly name: string; readonly cluster: ClusterEntry }[];
  readonly users: readonly { readonly name: string; readonly user: UserEntry }[];
  readonly contexts: readonly { readonly name: string; readonly context: ContextEntry }[];
  readonly "current-context": string;
}

export interface ClusterEntry {
  readonly server: string;
  readonly "certificate-authority-data": string;
}

export type UserEntry =
  | { readonly "client-certificate-data": string; readonly "client-key-data": string }
  | { readonly token: string };

export interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
}

/** How a client proves who it is. */
export type ClientCredentials = KeyPair | { readonly token: string };

export interface KubeconfigContent {
  /** The name of the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  readonly caPem: string;
  readonly client: ClientCredentials;
}

export function kubeconfigFor({ name, server, caPem, client }: KubeconfigContent): Kubeconfig {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(caPem) } }],
    users: [{ name, user: userEntry(client) }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
}

function userEntry(client: ClientCredentials): UserEntry {
  if ("token" in client) return { token: client.token };
  return { "client-certificate-data": base64(client.certPem), "client-key-data": base64(client.keyPem) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

export async function writeKubeconfig(file: string, config: Kubeconfig): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await writeFiles([{ path: file, text: kubeconfigText(config), mode: PRIVATE_FILE }]);
}

/** Written without the YAML library, so that a start need not load it. */
export function kubeconfigText(config: Kubeconfig): string {
  const { apiVersion, kind, clusters, users, contexts } = config;
  const entry = (name: string, label: string, fields: object) => {
    const lines = Object.entries(fields).map(([key, value]) => `      ${key}: ${scalar(String(value))}\n`);
    return `  - name: ${scalar(name)}\n    ${label}:\n${lines.join("")}`;
  };
  return [
    `apiVersion: ${apiVersion}\nkind: ${kind}\n`,
    "clusters:\n",
    ...clusters.map(({ name, cluster }) => entry(name, "cluster", cluster)),
    "users:\n",
    ...users.map(({ name, user }) => entry(name, "user", user)),
    "contexts:\n",
    ...contexts.map(({ name, context }) => entry(name, "context", context)),
    `current-context: ${scalar(config["current-context"])}\n`,
  ].join("");
}

const PLAIN_SCALAR = /^[A-Za-z][A-Za-z0-9+/=:._-]*[A-Za-z0-9+/=]$/;
/** Texts that YAML reads as another type. */
const WORD = /^(?:true|false|null|yes|no|on|off)$/i;

/** JSON strings are valid YAML. */
function scalar(text: string): string {
  return PLAIN_SCALAR.test(text) && !WORD.test(text) ? text : JSON.stringify(text);
}

/**
 * The file that kubectl would change: of those in $KUBECONFIG the first that exists, else the last; without any,
 * ~/.kube/config.
 */
export function userKubeconfigPath(
  env: Readonly<Record<string, string | undefined>>,
  home: string = homedir(),
  exists: (file: string) => boolean = existsSync,
): string {
  const files = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  return files.find(exists) ?? files.at(-1) ?? join(home, ".kube", "config");
}
