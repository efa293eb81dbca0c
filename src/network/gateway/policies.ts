/**
 * BackendTLSPolicies: to which Services the proxy speaks TLS, and which names and authorities it accepts there. Pure.
 *
 * 1. A policy for one port of a Service goes before one for all of its ports; then the older one, then its name. The
 *    other ones are in conflict, and say so.
 * 2. A policy that is in force but cannot be carried out closes its Service: nothing is sent without TLS instead.
 */
import { objectKey } from "#client";
import type { BackendTls } from "../http/backend-tls.ts";
import type { AttachedRoute } from "./attach.ts";
import { no, yes } from "./conditions.ts";
import type { BackendTlsPolicy, Condition, SubjectAltName } from "./kinds.ts";

export interface PolicySources {
  readonly policies: readonly BackendTlsPolicy[];
  /** `ca.crt` of a ConfigMap; undefined if there is none. */
  authorityOf(configMap: string): string | undefined;
  /** Whether PEM text holds certificates. */
  isCertificate(pem: string): boolean;
}

export interface JudgedPolicy {
  readonly policy: BackendTlsPolicy;
  readonly accepted: Condition;
  readonly resolved: Condition;
  /** `namespace/name` of the Gateways that send requests to its Services. */
  readonly gateways: readonly string[];
}

/** `namespace/name` of the Service, with the name of a port, or empty for all of its ports. */
type Target = `${string} ${string}`;

export interface BackendPolicies {
  /** How to speak TLS with a port of a Service; `closed`: its policy cannot be carried out; undefined: without TLS. */
  tlsOf(service: string, portName: string): BackendTls | "closed" | undefined;
  readonly judged: readonly JudgedPolicy[];
}

export const NO_POLICIES: BackendPolicies = { tlsOf: () => undefined, judged: [] };

/** `gatewaysOf`: those with routes to a Service. */
export function judgePolicies(
  sources: PolicySources,
  gatewaysOf: (service: string) => readonly string[],
): BackendPolicies {
  const winners = new Map<Target, BackendTls | "closed">();
  const judged = [...sources.policies].sort(older).map((policy): JudgedPolicy => {
    const targets = targetsOf(policy);
    const { tls, accepted, resolved } = judge(policy, sources);
    const free = targets.filter((target) => !winners.has(target));
    for (const target of free) winners.set(target, tls ?? "closed");
    const isBeaten = targets.length > 0 && free.length === 0;
    return {
      ...{ policy, resolved },
      accepted: isBeaten ? no("Conflicted", "an older policy is about the same target") : accepted,
      gateways: [...new Set(targets.flatMap((target) => gatewaysOf(target.slice(0, target.indexOf(" ")))))].sort(),
    };
  });
  const tlsOf = (service: string, portName: string) =>
    winners.get(`${service} ${portName}`) ?? winners.get(`${service} `);
  return { tlsOf, judged };
}

function judge(policy: BackendTlsPolicy, sources: PolicySources) {
  const {
    hostname = "",
    caCertificateRefs = [],
    wellKnownCACertificates,
    subjectAltNames = [],
  } = policy.spec?.validation ?? {};
  const resolved = (condition: Condition): Condition => ({ ...condition, type: "ResolvedRefs" });
  const all = resolved(yes("ResolvedRefs", "all references are resolved"));
  const tls = (ca: string | undefined): BackendTls => ({
    ...{
      id: `${objectKey(policy)} ${policy.metadata.uid} ${policy.metadata.generation} ${ca ?? ""}`,
      serverName: hostname,
    },
    ...{ ca, names: subjectAltNames.flatMap(nameOf) },
  });
  const good = yes("Accepted", "the policy is in force");
  if (caCertificateRefs.length === 0) {
    if (wellKnownCACertificates === "System") return { tls: tls(undefined), accepted: good, resolved: all };
    return { accepted: no("Invalid", `${wellKnownCACertificates} is not supported`), resolved: all };
  }
  const problems: Condition[] = [];
  const authorities: string[] = [];
  for (const { group, kind, name } of caCertificateRefs) {
    if (group !== "" || kind !== "ConfigMap") {
      problems.push(no("InvalidKind", `${[kind, group].filter(Boolean).join(".")} is not supported`));
      continue;
    }
    const key = `${policy.metadata.namespace}/${name}`;
    const pem = sources.authorityOf(key);
    if (pem !== undefined && sources.isCertificate(pem)) authorities.push(pem);
    else
      problems.push(
        no(
          "InvalidCACertificateRef",
          `ConfigMap ${key} ${pem === undefined ? "has no ca.crt" : "holds no certificate"}`,
        ),
      );
  }
  const [problem] = problems;
  if (authorities.length === 0) {
    const message = problem?.message ?? "";
    return { accepted: no("NoValidCACertificate", message), resolved: resolved(problem ?? all) };
  }
  return { tls: tls(authorities.join("\n")), accepted: good, resolved: resolved(problem ?? all) };
}

function nameOf({ type, hostname, uri }: SubjectAltName): string[] {
  const value = type === "URI" ? uri : hostname;
  return value === undefined ? [] : [`${type === "URI" ? "URI" : "DNS"}:${value}`];
}

function targetsOf({ metadata, spec }: BackendTlsPolicy): Target[] {
  return (spec?.targetRefs ?? []).flatMap(({ group, kind, name, sectionName = "" }): Target[] =>
    group === "" && kind === "Service" ? [`${metadata.namespace}/${name} ${sectionName}`] : [],
  );
}

function older(a: BackendTlsPolicy, b: BackendTlsPolicy): number {
  const [left, right] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  if (left !== right) return left < right ? -1 : 1;
  return objectKey(a) < objectKey(b) ? -1 : 1;
}

/** The Gateways that send requests to each Service. */
export function gatewaysByService(routes: readonly AttachedRoute[]): (service: string) => readonly string[] {
  const found = new Map<string, Set<string>>();
  for (const { route, gateway, backendOf } of routes)
    for (const { backendRefs = [] } of route.spec?.rules ?? [])
      for (const reference of backendRefs) {
        const service = backendOf(reference)?.service;
        if (service === undefined) continue;
        const gateways = found.get(service) ?? new Set();
        found.set(service, gateways.add(gateway));
      }
  return (service) => [...(found.get(service) ?? [])];
}
