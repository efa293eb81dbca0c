/**
 * `npm audit`: known vulnerabilities of what is shipped. Registries that mirror others often have no such answer; then
 * nothing is known, which is neither good nor bad news.
 */
export type AuditOutcome =
  | { readonly kind: "clean" }
  | { readonly kind: "vulnerable"; readonly packages: readonly string[] }
  | { readonly kind: "unanswered"; readonly reason: string };

export const AUDIT = ["audit", "--omit=dev", "--json", "--fetch-retries=0", "--fetch-timeout=20000"] as const;

/** What `npm audit --json` printed. No host of a registry gets into the outcome. */
export function auditOutcome(output: string): AuditOutcome {
  let report: unknown;
  try {
    report = JSON.parse(output);
  } catch {
    return { kind: "unanswered", reason: "npm printed no report" };
  }
  if (typeof report !== "object" || report === null) return { kind: "unanswered", reason: "npm printed no report" };
  if (!("auditReportVersion" in report) || !("vulnerabilities" in report)) {
    const status = "statusCode" in report ? `it answered ${String(report.statusCode)}` : "it did not answer";
    return { kind: "unanswered", reason: status };
  }
  const packages = Object.entries(report.vulnerabilities as Readonly<Record<string, { readonly severity?: string }>>)
    .map(([name, { severity = "unknown" }]) => `${name} (${severity})`)
    .sort();
  return packages.length === 0 ? { kind: "clean" } : { kind: "vulnerable", packages };
}
