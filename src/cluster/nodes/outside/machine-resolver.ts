/** How this machine resolves names: its servers and search domains, as its resolv.conf says at this moment. */
import { readFile, stat } from "node:fs/promises";
import type { UpstreamAddress } from "#network";

const RESOLV_CONF = "/etc/resolv.conf";
const DNS_PORT = 53;

export interface MachineResolver {
  readonly servers: readonly UpstreamAddress[];
  readonly searches: readonly string[];
}

/** Without servers the machine asks itself, as resolv.conf(5) says. */
export function parseResolvConf(text: string): MachineResolver {
  const words = text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/),
  );
  const named = words.flatMap(([word, host]) => (word === "nameserver" && host !== undefined ? [host] : []));
  const searches = words.findLast(([word]) => word === "search" || word === "domain")?.slice(1) ?? [];
  return {
    servers: (named.length === 0 ? ["127.0.0.1"] : named).map((host) => ({ host, port: DNS_PORT })),
    searches: searches.filter((each) => each !== "."),
  };
}

export async function machineResolver(file = RESOLV_CONF): Promise<MachineResolver> {
  return parseResolvConf(await textOf(file));
}

/** Reads the file again when it has changed. */
export function changingResolver(file = RESOLV_CONF): () => Promise<MachineResolver> {
  let known: { readonly seen: string; readonly resolver: MachineResolver } | undefined;
  return async () => {
    const seen = await stat(file).then(
      ({ mtimeMs, ino, size }) => `${mtimeMs} ${ino} ${size}`,
      () => "none",
    );
    if (known?.seen !== seen) known = { seen, resolver: await machineResolver(file) };
    return known.resolver;
  };
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** The resolv.conf of a node: it asks the cluster's DNS, which passes on what it does not know. */
export function nodeResolvConf(clusterDns: string, { searches }: Pick<MachineResolver, "searches">): string {
  const search = searches.length === 0 ? [] : [`search ${searches.join(" ")}`];
  return [`nameserver ${clusterDns}`, ...search, ""].join("\n");
}
