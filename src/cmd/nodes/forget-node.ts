/**
 * Removes what the cluster has of a node: the Node, its Lease, its certificate requests. A machine that joined powers
 * its node off when it sees that the Node was removed by this command.
 */
import { type certificates, type core, isStatusError, type KubeObject, kinds } from "#api";
import type { Client } from "#client";
import { REMOVED } from "#cluster";
import { requestSubject } from "#pki";

const LEASES = "kube-node-lease";

/** False if there was no Node: it may never have registered. */
export async function forgetNode(client: Client, name: string): Promise<boolean> {
  const nodes = client.of<core.Node>(kinds.Node);
  const mark = { metadata: { annotations: { [REMOVED]: "true" } } };
  const wasThere = await unlessGone(nodes.patch(name, { type: "merge", object: mark }));
  if (wasThere) await unlessGone(nodes.delete(name));
  await unlessGone(client.of<KubeObject>(kinds.Lease).in(LEASES).delete(name));
  const requests = client.of<certificates.CertificateSigningRequest>(kinds.CertificateSigningRequest);
  for (const { metadata, spec } of (await requests.list()).items)
    if (isOf(name, spec)) await unlessGone(requests.delete(metadata.name ?? ""));
  return wasThere;
}

/** By who asks, and by who is asked for: the first one is asked for with a bootstrap token. */
function isOf(node: string, { username, request }: certificates.CertificateSigningRequest["spec"]): boolean {
  const user = `system:node:${node}`;
  if (username === user) return true;
  return requestSubject(request)?.commonName === user;
}

async function unlessGone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isStatusError(error, "NotFound")) return false;
    throw error;
  }
}
