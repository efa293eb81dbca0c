/** Deletes requests an hour after their decision, a day after their creation, or when their certificate has expired. */
import { X509Certificate } from "node:crypto";
import { kinds, parseTime, toMs } from "#api";
import { defineController, keysFrom } from "../runtime/index.ts";
import type { SigningRequest } from "./authority.ts";

const HOUR_MS = 3_600_000;
const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;

export const csrCleaner = defineController({
  name: "certificatesigningrequest-cleaner-controller",
  account: "certificate-controller",
  bind({ cache }) {
    const requests = cache(kinds.CertificateSigningRequest);
    return {
      sources: [keysFrom(kinds.CertificateSigningRequest, ({ object }) => [object.metadata.name ?? ""])],
      reconcile(key, now) {
        const request = requests.get(key);
        if (request === undefined) return undefined;
        const due = neededUntil(request);
        if (due > now) return due === Number.POSITIVE_INFINITY ? undefined : { againAfterMs: due - now };
        return { steps: [[{ verb: "delete", resource: kinds.CertificateSigningRequest, object: request }]] };
      },
    };
  },
});

/** When a request can be deleted. */
export function neededUntil({ metadata, status }: SigningRequest): number {
  const conditions = status?.conditions ?? [];
  const certificate = status?.certificate ?? "";
  if (conditions.length === 0) return after(metadata?.creationTimestamp, PENDING_MS);
  const ends = conditions.map(({ type, lastUpdateTime }) => {
    if (type === "Denied" || type === "Failed") return after(lastUpdateTime, DECIDED_MS);
    if (type !== "Approved") return Number.POSITIVE_INFINITY;
    // Approved but never signed: its signer does not exist.
    if (certificate === "") return after(lastUpdateTime, PENDING_MS);
    return Math.min(after(lastUpdateTime, DECIDED_MS), expiryOf(certificate));
  });
  return Math.min(...ends);
}

function after(time: string | undefined, ms: number): number {
  return time === undefined || time === "" ? Number.POSITIVE_INFINITY : toMs(parseTime(time)) + ms;
}

function expiryOf(certificate: string): number {
  try {
    return new X509Certificate(Buffer.from(certificate, "base64")).validToDate.getTime();
  } catch {
    // An unreadable certificate of another signer: the age of the request decides.
    return Number.POSITIVE_INFINITY;
  }
}
