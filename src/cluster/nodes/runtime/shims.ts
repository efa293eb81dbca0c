/** The shims of a node's containerd: processes that hold a Pod's containers and survive containerd. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { NodeNames } from "../site/names.ts";

const PROGRAM = "containerd-shim";
const NAMESPACE = "k8s.io";
/** Shared by all containerds of a machine. */
const SOCKETS = "/run/containerd/s";

/** Whether a command line is that of a shim of this node. */
export function isShimOf({ socket }: Pick<NodeNames, "socket">): (args: readonly string[]) => boolean {
  return ([program = "", ...args]) =>
    program.split("/").at(-1)?.startsWith(PROGRAM) === true && argumentOf(args, "-address") === socket;
}

export function argumentOf(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1];
}

/** The socket of a sandbox's shim, derived from containerd's socket and the sandbox's ID. */
export function shimSocket({ socket }: Pick<NodeNames, "socket">, id: string): string {
  return join(
    SOCKETS,
    createHash("sha256")
      .update(join(socket, NAMESPACE, id))
      .digest("hex"),
  );
}
