/** A dashboard for a user who may read a namespace, and nothing else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./k8ts.ts";
import type { CommandLine } from "./tools.ts";

/** The link works once; the dashboard ends with the home. */
export async function viewerLink(home: Home, kubectl: CommandLine): Promise<string> {
  await kubectl.ok("create", "serviceaccount", "viewer");
  await kubectl.ok("create", "rolebinding", "viewer", "--clusterrole=view", "--serviceaccount=default:viewer");
  const token = (await kubectl.ok("create", "token", "viewer")).trim();
  const admin = (await kubectl.json("config", "view", "--raw", "--minify")) as {
    clusters: object[];
    contexts: { context: object }[];
  };
  const file = join(home.dir, "viewer.kubeconfig");
  const context = { ...admin.contexts[0]?.context, user: "viewer", namespace: "default" };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: admin.clusters,
    users: [{ name: "viewer", user: { token } }],
    contexts: [{ name: "viewer", context }],
    "current-context": "viewer",
  };
  writeFileSync(file, JSON.stringify(config));
  const running = home.start("dashboard", "--serve", "--no-open", "--kubeconfig", file);
  await running.printed("works once");
  return /Dashboard: (\S+)/.exec(running.stdout())?.[1] ?? "";
}
