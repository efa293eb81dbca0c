/** The warning that Kubernetes gives with every answer about a deprecated version of a kind. */
import type { KindFacts } from "../facts/index.ts";
import { apiVersionOf } from "../machinery/kind.ts";

/** The version of Kubernetes that this API level is. */
const CURRENT = "1.36";

/** Undefined: not deprecated yet. */
export function deprecationOf(facts: KindFacts): string | undefined {
  const { kind, lifecycle } = facts;
  if (lifecycle === undefined || minorOf(lifecycle.deprecated) > minorOf(CURRENT)) return undefined;
  const { deprecated, removed, replacement } = lifecycle;
  const warning = `${apiVersionOf(facts)} ${kind} is deprecated in v${deprecated}+, unavailable in v${removed}+`;
  if (replacement === undefined) return warning;
  const slash = replacement.lastIndexOf("/");
  return `${warning}; use ${replacement.slice(0, slash)} ${replacement.slice(slash + 1)}`;
}

/** All versions are 1.x. */
function minorOf(version: string): number {
  return Number(version.slice(version.indexOf(".") + 1));
}
