/**
 * The control plane's part of machines that join: what they read, a token to join with, and who approves their nodes'
 * certificates.
 *
 *     openForMachines ══► ConfigMaps, roles, a bootstrap token ──► the command for another machine
 *     approveNodeCertificates ···► until the cluster stops
 */
import { type core, equalJson, type Json, type KubeObject, kinds } from "#api";
import { type Clock, type Logger, MetricsRegistry, type Random } from "#base";
import { Client, createUnlessThere, type InProcessHandle, inProcess } from "#client";
import { readSigningRequest } from "#pki";
import { type ClusterDescription, clusterObjects } from "./cluster-objects.ts";
import { joinCommand } from "./names.ts";
import {
  DEFAULT_TTL_MS,
  isUsable,
  newToken,
  readToken,
  TOKEN_GROUP,
  TOKEN_USAGES,
  tokenSecret,
  tokenText,
} from "./tokens.ts";

const USER = { name: "k8ts-machines", groups: ["system:masters", "system:authenticated"] };
const DESCRIPTION = "made by `k8ts up` for machines that join";
/** A token that a user reads now should work for a while. */
const LEAST_MS = 3_600_000;

export interface MachinesOptions {
  readonly handle: InProcessHandle;
  readonly cluster: ClusterDescription;
  readonly caPem: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns the command that makes another machine a node. */
export async function openForMachines({ handle, cluster, caPem, clock, random }: MachinesOptions): Promise<string> {
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  try {
    const { configMaps, roles, roleBindings, clusterRoles, clusterRoleBindings } = clusterObjects(cluster);
    for (const each of configMaps) await keep(client, each);
    const [namespace, { Role, RoleBinding, ClusterRole, ClusterRoleBinding }] = ["kube-system", kinds];
    for (const each of roles) await createUnlessThere(client.of(Role).in(namespace), each);
    for (const each of roleBindings) await createUnlessThere(client.of(RoleBinding).in(namespace), each);
    for (const each of clusterRoles) await createUnlessThere(client.of(ClusterRole), each);
    for (const each of clusterRoleBindings) await createUnlessThere(client.of(ClusterRoleBinding), each);
    return joinCommand(cluster.endpoint, await usableToken(client, clock, random), caPem);
  } finally {
    await client.close();
  }
}

/** Each start describes the cluster as it is now. */
async function keep(client: Client, wanted: core.ConfigMap): Promise<void> {
  const configMaps = client.of<core.ConfigMap>(kinds.ConfigMap).in(wanted.metadata?.namespace ?? "");
  if (await createUnlessThere(configMaps, wanted)) return;
  const found = await configMaps.get(wanted.metadata?.name ?? "");
  if (equalJson((found.data ?? {}) as Json, (wanted.data ?? {}) as Json)) return;
  await configMaps.update({ ...found, data: { ...found.data, ...wanted.data } } as core.ConfigMap & KubeObject);
}

/** That of an earlier start, while it lasts; else a new one. */
async function usableToken(client: Client, clock: Clock, random: Random): Promise<string> {
  const secrets = client.of<core.Secret>(kinds.Secret).in("kube-system");
  const { items } = await secrets.list();
  const own = items
    .flatMap((secret) => readToken(secret) ?? [])
    .find((token) => token.description === DESCRIPTION && isUsable(token, clock.now(), LEAST_MS));
  if (own !== undefined) return tokenText(own);
  const made = {
    ...newToken(random),
    usages: TOKEN_USAGES,
    groups: [TOKEN_GROUP],
    description: DESCRIPTION,
    expiresMs: clock.now() + DEFAULT_TTL_MS,
  };
  await secrets.create(tokenSecret(made) as core.Secret & KubeObject);
  return tokenText(made);
}

export interface ApprovingOptions {
  readonly handle: InProcessHandle;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Runs until the signal aborts. */
export async function approveNodeCertificates(options: ApprovingOptions, signal: AbortSignal): Promise<void> {
  const { handle, clock, random, log } = options;
  const { controllerMetrics, nodeCertificates, runControllers } = await import("#controllers");
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  try {
    await runControllers(
      {
        controllers: [nodeCertificates({ read: readSigningRequest })],
        clientOf: () => client,
        instance: USER.name,
        metrics: controllerMetrics(new MetricsRegistry(), { manager: USER.name }),
        ...{ client, clock, random, log },
      },
      signal,
    );
  } finally {
    await client.close();
  }
}
