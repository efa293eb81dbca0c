/** Why a ResourceQuota lets nothing more in: what is used of it, the fullest first. */
import { type core, parseQuantity, scaledValue } from "#api";
import type { WhyAnswer } from "../answer.ts";

/** Thousandths: what Kubernetes counts in. */
const MILLI = -3;

export function whyQuota({ metadata, spec, status }: core.ResourceQuota): WhyAnswer {
  const limits = Object.entries(status?.hard ?? spec?.hard ?? {});
  const shares = limits
    .map(([resource, hard]) => {
      const used = status?.used?.[resource] ?? "0";
      return { text: `${resource}: ${used} of ${hard} used`, share: shareOf(used, hard) };
    })
    .sort((a, b) => b.share - a.share);
  const full = shares.filter(({ share }) => share >= 1);
  const name = `resourcequota/${metadata.name}`;
  if (status?.used === undefined && limits.length > 0)
    return {
      what: `${name} is not counted yet`,
      because: [{ text: "its controller has not seen it yet", evidence: "status.used" }],
      help: [],
    };
  return {
    what: full.length === 0 ? `${name} has room` : `${name} is used up`,
    cause: full.length === 0 ? undefined : full.map(({ text }) => text).join(", "),
    because: shares.map(({ text }) => ({ text, evidence: "status.used, status.hard" })),
    help: full.length === 0 ? [] : ["delete objects that it counts, or raise spec.hard: `kubectl edit resourcequota`"],
  };
}

/** A limit of none is full. */
function shareOf(used: string, hard: string): number {
  const [part, whole] = [parseQuantity(used), parseQuantity(hard)].map((each) => Number(scaledValue(each, MILLI)));
  return whole === 0 ? 1 : (part ?? 0) / (whole ?? 1);
}
