/**
 * When to renew a certificate: at a random time between 70 and 90 % of its lifetime, so that nodes do not renew all at
 * once.
 */
import { X509Certificate } from "node:crypto";
import type { Random } from "#base";

export function renewalTime(certPem: string, random: Random): number {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  const [fromMs, toMs] = [validFromDate.getTime(), validToDate.getTime()];
  return fromMs + (toMs - fromMs) * (0.7 + 0.2 * random.next());
}

export function isExpired(certPem: string, nowMs: number): boolean {
  return nowMs >= new X509Certificate(certPem).validToDate.getTime();
}
