/**
 * The SELinux label with which a volume is mounted (`-o context=`), instead of labelling its files one by one.
 *
 *     SELinux here? CSIDriver.seLinuxMount? policy of the Pod? one Pod at a time? ──► label of its containers
 *
 * 1. On a machine without SELinux nothing is added.
 * 2. A Pod that leaves the level to the runtime gets no such mount: the label would not be that of its processes.
 */
import { readFile } from "node:fs/promises";
import type { core, storage } from "#api";

/** A machine with SELinux. */
export interface Selinux {
  /** user:role:type:level of files for containers that say nothing. */
  readonly fileLabel: string;
}

const ENFORCE = "/sys/fs/selinux/enforce";
const CONFIG = "/etc/selinux/config";
const DEFAULT_POLICY = "targeted";

/** Undefined: it has none. `read`: a file of the machine. */
export async function selinuxHere(
  read: (path: string) => Promise<string> = (path) => readFile(path, "utf8"),
): Promise<Selinux | undefined> {
  // Absent where there is no SELinux, or this process does not see it.
  const text = (path: string) => read(path).catch(() => "");
  if ((await text(ENFORCE)) === "") return undefined;
  const policy = /^SELINUXTYPE=(\S+)$/m.exec(await text(CONFIG))?.[1] ?? DEFAULT_POLICY;
  const contexts = await text(`/etc/selinux/${policy}/contexts/lxc_contexts`);
  const fileLabel = /^file\s*=\s*"([^"]+)"$/m.exec(contexts)?.[1];
  return fileLabel === undefined ? undefined : { fileLabel };
}

export interface Labelled {
  readonly pod: core.Pod;
  /** In the Pod. */
  readonly volumeName: string;
  readonly accessModes: readonly string[];
  readonly driver: storage.CSIDriverSpec;
  /** Gate SELinuxMount: not only volumes of one Pod. */
  readonly forAllModes: boolean;
}

/** Undefined: it is mounted without one. Throws a text if containers of the Pod want several. */
export function mountLabel(selinux: Selinux | undefined, labelled: Labelled): string | undefined {
  const { pod, volumeName, accessModes, driver, forAllModes } = labelled;
  const { securityContext } = pod.spec ?? {};
  if (selinux === undefined || driver.seLinuxMount !== true) return undefined;
  if (securityContext?.seLinuxChangePolicy === "Recursive") return undefined;
  const isOfOnePod = accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod";
  if (!isOfOnePod && !forAllModes) return undefined;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const users = [...initContainers, ...containers, ...ephemeralContainers].filter(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === volumeName),
  );
  const labels = new Set(
    users.flatMap((container) => {
      const options = container.securityContext?.seLinuxOptions ?? securityContext?.seLinuxOptions;
      return options === undefined ? [] : [fileLabelOf(selinux, options)];
    }),
  );
  if (labels.size > 1) throw new Error(`multiple SELinux labels found: ${[...labels].sort().join(",")}`);
  return [...labels][0] || undefined;
}

/** Files have the user and the level of processes, and a role and a type of their own. */
function fileLabelOf({ fileLabel }: Selinux, { user, level }: core.SELinuxOptions): string {
  if (level === undefined || level === "") return "";
  const [ownUser = "", role = "", type = ""] = fileLabel.split(":");
  return [user || ownUser, role, type, level].join(":");
}

/** In quotes: levels have commas. */
export function labelOption(label: string): string {
  return `context="${label}"`;
}
