/** Asks whether a request is allowed, and which roles would allow it. */
import { kinds } from "#api";
import type { Client } from "#client";
import { ClusterError } from "#cluster";
import { objectName } from "../../flow.ts";
import type { WhyAnswer } from "../answer.ts";
import { rolesThatGrant } from "./roles.ts";
import { whyForbidden } from "./why-forbidden.ts";

export async function answerForbidden(
  client: Client,
  request: readonly string[],
  namespace: string,
): Promise<WhyAnswer> {
  const [user, verb, target] = request;
  if (user === undefined || verb === undefined || target === undefined)
    throw new ClusterError("Usage: `k8ts why forbidden USER VERB RESOURCE[/NAME]`.");
  const [type = "", name = ""] = target.split("/");
  const { resource } = objectName(`${type}/${name || "x"}`, namespace);
  const slash = resource.indexOf("/");
  const about = {
    verb,
    name,
    group: slash === -1 ? "" : resource.slice(0, slash),
    resource: resource.slice(slash + 1),
  };
  const spec = { user, groups: ["system:authenticated"], resourceAttributes: { ...about, namespace } };
  const review = await client
    .of(kinds.SubjectAccessReview)
    .create({ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec });
  const { items: roles } = await client.of(kinds.Role).in(namespace).list();
  const { items: clusterRoles } = await client.of(kinds.ClusterRole).list();
  const titles = [
    ...rolesThatGrant(roles, about).map(({ metadata }) => `Role ${metadata.name}`),
    ...rolesThatGrant(clusterRoles, about).map(({ metadata }) => `ClusterRole ${metadata.name}`),
  ];
  return whyForbidden({ user, verb, target, namespace, ...review.status, roles: titles });
}
