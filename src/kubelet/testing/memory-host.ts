/** A node's files, volumes and cgroups in memory: virtual time does not wait for real files. */
import type { VolumePath } from "../containers/index.ts";
import type { PodCgroups, PodFiles } from "../host/index.ts";
import type { PodVolumes } from "../volumes/index.ts";

export interface MemoryHost {
  readonly files: PodFiles;
  readonly volumes: PodVolumes;
  readonly cgroups: PodCgroups;
  /** By path. */
  readonly contents: Map<string, string>;
  readonly mounted: Set<string>;
}

export function memoryHost(contents = new Map<string, string>()): MemoryHost {
  const mounted = new Set<string>();
  const cgroups = new Set<string>();
  const remove = (prefix: string) => {
    for (const path of contents.keys()) if (path.startsWith(prefix)) contents.delete(path);
  };
  const written = (path: string, text: string) => {
    contents.set(path, text);
    return path;
  };
  return {
    contents,
    mounted,
    files: {
      writeEtcHosts: async ({ metadata }, text) => written(`/pods/${metadata.uid}/etc-hosts`, text),
      nodeHosts: async () => "127.0.0.1\tlocalhost\n",
      makeLogDirectory: async () => {},
      makeTerminationLog: async ({ metadata }, container, attempt) =>
        written(`/pods/${metadata.uid}/containers/${container}/${attempt}`, ""),
      tail: async (path, bytes) => (contents.get(path) ?? "").slice(-bytes),
      removeLog: async (path) => void contents.delete(path),
      writeEnding: async (uid, text) => void written(`/pods/${uid}/ending.json`, text),
      writeUserNamespace: async (uid, text) => void written(`/pods/${uid}/userns`, text),
      readUserNamespace: async (uid) => contents.get(`/pods/${uid}/userns`),
      readEnding: async (uid) => contents.get(`/pods/${uid}/ending.json`),
      removePod: async (uid) => remove(`/pods/${uid}/`),
      removeLogs: async (uid) => {
        for (const path of contents.keys()) if (path.includes(`_${uid}/`)) contents.delete(path);
      },
      podUids: async () => [
        ...new Set([...contents.keys()].flatMap((path) => /^\/pods\/([^/]+)/.exec(path)?.[1] ?? [])),
      ],
    },
    volumes: {
      async mount({ metadata, spec }) {
        mounted.add(metadata.uid ?? "");
        const paths = (spec?.volumes ?? []).map(({ name }): [string, VolumePath] => [
          name,
          { path: `/pods/${metadata.uid}/volumes/${name}` },
        ]);
        return new Map(paths);
      },
      // In every volume there is a link that leads out of it.
      subPath: async ({ volume, subPath }) => {
        if (subPath === "link-out") throw new Error(`subpath "${subPath}" not within volume path "${volume.path}"`);
        return `${volume.path}/${subPath}`;
      },
      mountImage: async (pod, name, image) => ({
        path: `/images/${pod.metadata.uid}/${name}/${image}`,
        readOnly: true,
      }),
      readFile: async ({ path: volume }, path) => contents.get(`${volume}/${path}`),
      usage: async () => [],
      unmount: async (uid) => void mounted.delete(uid),
      podUids: async () => [...mounted],
    },
    cgroups: {
      ensure: async ({ metadata }) => void cgroups.add(metadata.uid ?? ""),
      remove: async (uid) => void cgroups.delete(uid),
      podUids: async () => [...cgroups],
      update: async () => {},
      enforce: async () => {},
    },
  };
}
