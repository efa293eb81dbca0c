/** The objects that authentication reads and writes, through this server's own caches and verbs. */
import type { core, KubeObject } from "#api";
import { serverRequest } from "../loopback/server-request.ts";
import { fresh } from "../rest/read/fresh.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { patch } from "../rest/write/patch.ts";
import type { ClusterObjects } from "./objects.ts";
import { LAST_USED } from "./service-account/legacy-tokens.ts";

export function clusterObjects(context: ServerContext, resources: Resources): ClusterObjects {
  return {
    find: (plural, namespace, name): KubeObject | undefined => {
      const resource = resources.find("", "v1", plural);
      const stored = resource?.cache.get(resource.suffix(namespace, name));
      return stored && resource?.read(stored);
    },
    refresh: () => fresh(context),
  };
}

export async function noteTokenUse(
  context: ServerContext,
  resources: Resources,
  { metadata: { namespace = "", name = "", uid = "" } = {} }: core.Secret,
  day: string,
): Promise<void> {
  const secrets = resources.find("", "v1", "secrets");
  if (secrets === undefined) return;
  const change = { metadata: { uid, labels: { [LAST_USED]: day } } };
  await patch(
    serverRequest(context, secrets, {
      namespace,
      name,
      contentType: "application/merge-patch+json",
      body: async () => Buffer.from(JSON.stringify(change)),
    }),
  );
}
