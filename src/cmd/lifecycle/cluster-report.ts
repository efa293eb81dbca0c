/**
 * What `k8ts status` shows of a whole cluster: nodes, API servers, leaders, members of the store, ends of certificates.
 *
 *     Nodes, Leases, members, files of pki/ ──► clusterReport (pure) ──► tables, or JSON
 */
import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type coordination, type core, kinds } from "#api";
import type { Client } from "#client";
import type { DataDir, StoreMember, StoreMembers } from "#cluster";
import { textTable } from "../inspect/text-table.ts";

const SYSTEM = "kube-system";
const SERVER_LABEL = "apiserver.kubernetes.io/identity=kube-apiserver";
const PEER = "kubernetes.io/peer-advertise-address";
const ROLE = "node-role.kubernetes.io/";
const LEADERS = ["kube-controller-manager", "kube-scheduler"];
/** API servers renew their Leases every ten seconds. */
const SERVER_ALIVE_MS = 30_000;
const DAY_MS = 24 * 3_600_000;

export interface ClusterReport {
  readonly nodes: readonly {
    readonly name: string;
    readonly status: string;
    readonly roles: readonly string[];
    readonly address: string;
    readonly version: string;
  }[];
  readonly apiServers: readonly { readonly name: string; readonly address: string; readonly alive: boolean }[];
  /** Without a Lease the component of this process works alone. */
  readonly leaders: readonly { readonly component: string; readonly holder: string; readonly alive: boolean }[];
  readonly storeMembers: readonly StoreMember[];
  /** Of this machine. */
  readonly certificates: readonly { readonly name: string; readonly expires: string }[];
}

export interface ReportFacts {
  readonly nodes: readonly core.Node[];
  readonly leases: readonly coordination.Lease[];
  readonly servers: readonly coordination.Lease[];
  readonly storeMembers: readonly StoreMember[];
  readonly certificates: ClusterReport["certificates"];
  readonly now: number;
}

export async function readFacts(
  client: Client,
  dir: DataDir,
  members: StoreMembers | undefined,
  now: number,
): Promise<ReportFacts> {
  const leases = client.of<coordination.Lease>(kinds.Lease).in(SYSTEM);
  const [nodes, all, servers, storeMembers, certificates] = await Promise.all([
    client.of<core.Node>(kinds.Node).list(),
    leases.list(),
    leases.list({ labelSelector: SERVER_LABEL }),
    members?.() ?? [],
    certificatesIn(dir.pki),
  ]);
  return { nodes: nodes.items, leases: all.items, servers: servers.items, storeMembers, certificates, now };
}

export function clusterReport({ nodes, leases, servers, storeMembers, certificates, now }: ReportFacts): ClusterReport {
  return {
    nodes: nodes.map(({ metadata, spec, status }) => ({
      name: metadata?.name ?? "",
      status: nodeStatus(spec, status),
      roles: Object.keys(metadata?.labels ?? {}).flatMap((key) =>
        key.startsWith(ROLE) ? [key.slice(ROLE.length)] : [],
      ),
      address: status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
      version: status?.nodeInfo?.kubeletVersion ?? "",
    })),
    apiServers: servers.map(({ metadata, spec }) => ({
      name: metadata?.name ?? "",
      address: metadata?.annotations?.[PEER] ?? "",
      alive: renewedSince(spec, now - SERVER_ALIVE_MS),
    })),
    leaders: leases.flatMap(({ metadata, spec }) =>
      LEADERS.includes(metadata?.name ?? "") && spec?.holderIdentity
        ? [
            {
              component: metadata?.name ?? "",
              holder: spec.holderIdentity,
              alive: renewedSince(spec, now - 1000 * (spec.leaseDurationSeconds ?? 0)),
            },
          ]
        : [],
    ),
    storeMembers,
    certificates,
  };
}

function nodeStatus(spec: core.Node["spec"], status: core.Node["status"]): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const state = ready === "True" ? "Ready" : ready === "Unknown" ? "NotReady (no heartbeat)" : "NotReady";
  return spec?.unschedulable === true ? `${state}, cordoned` : state;
}

function renewedSince(spec: coordination.Lease["spec"], since: number): boolean {
  return spec?.renewTime !== undefined && Date.parse(spec.renewTime) >= since;
}

export function reportText(report: ClusterReport, now: number): string {
  const { nodes, apiServers, leaders, storeMembers, certificates } = report;
  const table = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? [] : ["", textTable([title.split(" "), ...rows]).trimEnd()];
  const alive = (is: boolean) => (is ? "alive" : "not renewed");
  const lines = [
    ...table(
      "NODE STATUS ROLES ADDRESS VERSION",
      nodes.map((each) => [each.name, each.status, each.roles.join() || "-", each.address || "-", each.version || "-"]),
    ),
    ...table(
      "API-SERVER ADDRESS LEASE",
      apiServers.map((each) => [each.name, each.address || "-", alive(each.alive)]),
    ),
    ...table(
      "LEADER HOLDER LEASE",
      leaders.map((each) => [each.component, each.holder, alive(each.alive)]),
    ),
    ...table(
      "STORE ENDPOINT ROLE SIZE LAG HEALTH",
      storeMembers.map(({ name, endpoint, isLeader, isLearner, dbSize, raftIndexLag, health, reason }) => [
        ...[name, endpoint, isLeader ? "leader" : isLearner ? "learner" : "follower"],
        ...[`${(dbSize / 1_000_000).toFixed(1)} MB`, String(raftIndexLag)],
        reason === undefined ? health : `${health}: ${reason}`,
      ]),
    ),
    ...table(
      "CERTIFICATE EXPIRES IN",
      certificates.map(({ name, expires }) => [
        ...[name, expires.slice(0, 10)],
        `${Math.floor((Date.parse(expires) - now) / DAY_MS)} days`,
      ]),
    ),
  ];
  return lines.map((line) => `${line}\n`).join("");
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
