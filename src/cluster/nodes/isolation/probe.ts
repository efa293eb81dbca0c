/** Whether this machine can give nodes namespaces of their own. */
import { ClusterError } from "../../config/errors.ts";
import { CommandError, findProgram, run } from "../machine/command.ts";

const NEEDED = ["unshare", "nsenter", "setpriv", "setsid", "find"];
/** All that a node is made of, tried at once: it is gone when the command ends. */
const TRY =
  "mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t overlay overlay -o lowerdir=/usr:/etc /tmp";

/** Why it cannot, as the end of a sentence; undefined if it can. */
export async function isolationObstacle(): Promise<string | undefined> {
  const missing = NEEDED.filter((program) => findProgram(program) === undefined);
  if (missing.length > 0) return `there is no ${missing.join(", ")} here`;
  return obstacleTo([]);
}

/** The same for user namespaces of their own. */
export async function userNamespaceObstacle(): Promise<string | undefined> {
  return obstacleTo(["--user", "--map-root-user"]);
}

/** `obstacle`: why nodes have no namespaces at all. Throws ClusterError. */
export async function requireUserNamespaces(obstacle: string | undefined): Promise<void> {
  const why = obstacle ?? (await userNamespaceObstacle());
  if (why !== undefined)
    throw new ClusterError(`--node-user-namespaces: this machine gives nodes no user namespaces: ${why}.`);
}

async function obstacleTo(more: readonly string[]): Promise<string | undefined> {
  const usual = ["--mount", "--uts", "--ipc", "--net", "--cgroup", "--pid", "--fork", "--propagation", "private"];
  const namespaces = [...more, ...usual];
  return run("unshare", [...namespaces, "sh", "-c", TRY]).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      return (error.message.split(`${TRY}: `).at(-1) ?? error.message).replace(/\.$/, "");
    },
  );
}
