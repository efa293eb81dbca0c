/**
 * Registry credentials of the node, for all of its Pods: `config.json` in the kubelet's folder, in Docker's format, and
 * `registry-credentials.json`, which a cluster writes there from registries.yaml: each is for one server, so that a
 * mirror does not see those of another registry.
 *
 * They are read with each pull: a change acts at once.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "#api";
import type { ImageAuth } from "../runtime/runtime.ts";
import { dockerEntries } from "./docker-config.ts";
import { parseImageName } from "./image-name.ts";
import { type Credential, lookup, repositoryOf } from "./keyring.ts";

const SOURCE = { kind: "node" } as const;

export type NodeCredentials = (image: string) => Promise<readonly Credential[]>;

export function nodeCredentials(rootDir: string): NodeCredentials {
  return async (image) => {
    const [config, registries] = await Promise.all([
      readFile(join(rootDir, "config.json"), "utf8").catch(unlessMissing),
      readFile(join(rootDir, "registry-credentials.json"), "utf8").catch(unlessMissing),
    ]);
    const entries = dockerEntries(config, "dockerconfigjson").map((entry) => ({ ...entry, source: SOURCE }));
    return [...credentialsOfServers(image, registries), ...lookup(entries, repositoryOf(image) ?? "")];
  };
}

/** Those of registries.yaml: for images of one registry, and one server. */
export function credentialsOfServers(image: string, text: string): readonly Credential[] {
  const name = parseImageName(image);
  const all: unknown = text === "" ? [] : JSON.parse(text);
  if (name === undefined || !Array.isArray(all)) return [];
  const ofRegistry = all.filter((each) => isObject(each) && each.registry === name.registry);
  const chosen = ofRegistry.length > 0 ? ofRegistry : all.filter((each) => isObject(each) && each.registry === "*");
  return chosen.map(({ server, username, password, identityToken }: Readonly<Record<string, string>>) => {
    const serverAddress = server || `https://${name.registry === "docker.io" ? "registry-1.docker.io" : name.registry}`;
    const auth: ImageAuth = {
      serverAddress,
      ...(username !== undefined && { username, password: password ?? "" }),
      ...(identityToken !== undefined && { identityToken }),
    };
    return { auth, source: SOURCE };
  });
}

function unlessMissing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}
