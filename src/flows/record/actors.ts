/**
 * The name of a user in diagrams, and whether its claims about work are trusted.
 *
 * Components are named by their authenticated identity, all others by their user agent.
 */

const CONTROLLER = "system:serviceaccount:kube-system:";
const NODE = "system:node:";

export function actorOf(user: string, userAgent: string): string {
  if (user.startsWith(NODE)) return `kubelet/${user.slice(NODE.length)}`;
  if (user.startsWith(CONTROLLER)) return user.slice(CONTROLLER.length);
  if (user === "system:kube-scheduler") return "scheduler";
  if (user === "system:kube-controller-manager") return "controller-manager";
  if (user === "system:apiserver") return "apiserver";
  if (user === "system:kube-proxy") return "proxy";
  const program = /^[^/\s(]+/.exec(userAgent)?.[0] ?? "";
  return program === "" ? user : program;
}

export function isKubelet(actor: string): boolean {
  return actor.startsWith("kubelet/");
}

/** Whether this user's identity proves that it is this component. */
export function vouchesFor(user: string, actor: string): boolean {
  if (user === "system:kube-controller-manager") return true;
  if (user === `${CONTROLLER}kube-dns`) return actor.startsWith("dns/");
  if (user.startsWith(CONTROLLER)) return user.slice(CONTROLLER.length) === actor;
  if (user === "system:kube-scheduler") return actor === "scheduler";
  if (user === "system:kube-proxy") return /^(proxy|policy|dns)\//.test(actor);
  return user.startsWith(NODE) && actor === `kubelet/${user.slice(NODE.length)}`;
}
