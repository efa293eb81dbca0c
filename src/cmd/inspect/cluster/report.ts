/**
 * What `k8ts status` and the dashboard show of a whole cluster: nodes, API servers, leaders, members of the store, ends
 * of certificates.
 *
 *     Nodes, Leases, members, files of pki/ ──► clusterReport (pure) ──► tables, JSON, or a page
 */
import type { coordination, core } from "#api";
import type { ClusterReport } from "#dashboard";
import { textTable } from "../text-table.ts";

const ROLE = "node-role.kubernetes.io/";
const PEER = "kubernetes.io/peer-advertise-address";
const LEADERS = ["kube-controller-manager", "kube-scheduler", "cloud-controller-manager"];
/** API servers renew their Leases every ten seconds. */
const SERVER_ALIVE_MS = 30_000;
const DAY_MS = 24 * 3_600_000;

export interface ReportFacts {
  readonly version: string;
  readonly nodes: readonly core.Node[];
  readonly leases: readonly coordination.Lease[];
  readonly servers: readonly coordination.Lease[];
  readonly storeMembers: ClusterReport["storeMembers"];
  readonly certificates: ClusterReport["certificates"];
  readonly refused: readonly string[];
  readonly now: number;
}

export function clusterReport(facts: ReportFacts): ClusterReport {
  const { version, nodes, leases, servers, storeMembers, certificates, refused, now } = facts;
  return {
    version,
    nodes: nodes.map(({ metadata, spec, status }) => ({
      name: metadata?.name ?? "",
      status: nodeStatus(spec, status),
      roles: Object.keys(metadata?.labels ?? {}).flatMap((key) =>
        key.startsWith(ROLE) ? [key.slice(ROLE.length)] : [],
      ),
      address: status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
      version: status?.nodeInfo?.kubeletVersion ?? "",
      runtime: status?.nodeInfo?.containerRuntimeVersion ?? "",
      system: status?.nodeInfo?.osImage ?? "",
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
              since: spec.acquireTime ?? "",
              transitions: spec.leaseTransitions ?? 0,
            },
          ]
        : [],
    ),
    storeMembers,
    certificates,
    refused,
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
    ...(report.version === "" ? [] : [`version     ${report.version}`]),
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
      "STORE ENDPOINT ROLE VERSION SIZE LAG HEALTH",
      storeMembers.map(({ name, endpoint, isLeader, isLearner, version, dbSize, raftIndexLag, health, reason }) => [
        ...[name, endpoint, isLeader ? "leader" : isLearner ? "learner" : "follower", version || "-"],
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
