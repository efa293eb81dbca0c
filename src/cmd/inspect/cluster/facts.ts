/** The facts of a cluster's report: from the API with somebody's rights, and from the files of this machine. */
import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type coordination, type core, isStatusError, kinds } from "#api";
import type { Client } from "#client";
import { ClusterError, type DataDir, embeddedMember, etcdTools, readRunState } from "#cluster";
import type { ClusterReport, ReportedMember } from "#dashboard";
import type { StoreMember } from "#store";
import type { ReportFacts } from "./report.ts";

const SYSTEM = "kube-system";
const SERVER_LABEL = "apiserver.kubernetes.io/identity=kube-apiserver";

/** What only this machine knows. */
export interface LocalFacts {
  readonly storeMembers: readonly ReportedMember[];
  readonly certificates: ClusterReport["certificates"];
}

export async function readFacts(client: Client, local: LocalFacts | undefined, now: number): Promise<ReportFacts> {
  const refused: string[] = [];
  const allowed = async <T>(asking: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await asking;
    } catch (error) {
      if (!isStatusError(error, "Forbidden")) throw error;
      refused.push(error.message);
      return otherwise;
    }
  };
  const leases = client.of<coordination.Lease>(kinds.Lease).in(SYSTEM);
  const [version, nodes, all, servers] = await Promise.all([
    allowed(client.text("/version").then(versionOf), ""),
    allowed(
      client
        .of<core.Node>(kinds.Node)
        .list()
        .then(({ items }) => items),
      [],
    ),
    allowed(
      leases.list().then(({ items }) => items),
      [],
    ),
    leases.list({ labelSelector: SERVER_LABEL }).then(
      ({ items }) => items,
      // Said once, for all Leases.
      () => [],
    ),
  ]);
  const { storeMembers = [], certificates = [] } = local ?? {};
  return { version, nodes, leases: all, servers, storeMembers, certificates, refused, now };
}

function versionOf(text: string): string {
  return (JSON.parse(text) as { gitVersion?: string }).gitVersion ?? "";
}

export async function localFacts(dir: DataDir): Promise<LocalFacts> {
  const [storeMembers, certificates] = await Promise.all([storeMembersOf(dir), certificatesIn(dir.pki)]);
  return { storeMembers, certificates };
}

/** None of an etcd that others run: they know its members. */
async function storeMembersOf(dir: DataDir): Promise<readonly ReportedMember[]> {
  const store = (await readRunState(dir))?.store;
  if (store === "embedded") return (await embeddedMember(dir)()).map((member) => ({ ...member, version: "" }));
  if (store !== "etcd") return [];
  const { memberOf } = await etcdTools();
  try {
    const opened = await (await memberOf(dir)).open();
    try {
      return reportedMembers(await opened.list());
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof ClusterError) return [];
    throw error;
  }
}

export function reportedMembers(members: readonly StoreMember[]): readonly ReportedMember[] {
  const first = Math.max(0, ...members.map(({ raftIndex = 0 }) => raftIndex));
  return members.map(
    ({ id, name, clientUrls, isLeader, isLearner, healthy, problem, version, dbSizeBytes, raftIndex }) => ({
      name: name || id,
      endpoint: clientUrls.join(),
      isLeader,
      isLearner,
      dbSize: dbSizeBytes ?? 0,
      raftIndexLag: raftIndex === undefined ? first : first - raftIndex,
      version: version ?? "",
      health: healthy ? "healthy" : "unhealthy",
      reason: problem,
    }),
  );
}

/** Those of a control plane, `*.crt`, and of a machine that joined, `*.pem`; sorted by their end. */
async function certificatesIn(folder: string): Promise<ClusterReport["certificates"]> {
  const names = (await readdir(folder)).filter((name) => /\.(crt|pem)$/.test(name));
  const all = await Promise.all(
    names.map(async (name) => {
      const { validToDate } = new X509Certificate(await readFile(join(folder, name)));
      return { name: name.replace(/\.(crt|pem)$/, ""), expires: validToDate.toISOString() };
    }),
  );
  return all.sort((a, b) => (a.expires < b.expires ? -1 : 1));
}
