/**
 * The registries that the user has named: in `<data dir>/certs.d` and in containerd's folder of the machine, each by a
 * folder, with mirrors in its `hosts.toml`.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** containerd's directory for registry mirrors. */
export const REGISTRY_HOSTS = "/etc/containerd/certs.d";

export interface NamedRegistry {
  /** As written: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

export async function namedRegistries(folders: readonly string[]): Promise<NamedRegistry[]> {
  const found: NamedRegistry[] = [];
  for (const folder of folders) {
    for (const name of await readdir(folder).catch(unlessMissing([]))) {
      const text = await readFile(join(folder, name, "hosts.toml"), "utf8").catch(unlessMissing(""));
      found.push(...registriesIn(name, text));
    }
  }
  return found;
}

/** `name`: of the folder, where a port may be written as `host_5000_`. */
export function registriesIn(name: string, hostsToml: string): NamedRegistry[] {
  const urls = [...hostsToml.matchAll(/^\s*(?:server\s*=\s*|\[host\.)["']([^"']+)["']/gm)].map(([, url = ""]) => url);
  const own = name === "_default" ? [] : [name.replace(/_(\d+)_$/, ":$1")];
  return [...own, ...urls].flatMap((text) => {
    const url = URL.parse(text.includes("://") ? text : `https://${text}`);
    if (url === null || url.hostname === "") return [];
    const port = Number(url.port || (url.protocol === "http:" ? 80 : 443));
    return [{ host: url.hostname.replace(/^\[|\]$/g, ""), port }];
  });
}

/** For folders and files that need not be there. */
function unlessMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return otherwise;
    throw error;
  };
}
