/** The differences between a decision of the fast path and the plain one; empty if they agree. */
import type { Decision } from "../evaluation/index.ts";
import type { Rejection } from "../framework/index.ts";
import type { PlainDecision, PlainFailure } from "./plain/index.ts";

export function differences(fast: Decision, plain: PlainDecision): readonly string[] {
  const found: string[] = [];
  const { preFilter } = plain;
  if (preFilter !== undefined) {
    if (fast.fitting.length > 0) found.push(`${preFilter.plugin} rejects the Pod, but ${fast.fitting.join()} fit`);
    for (const [node, { plugin, reasons }] of fast.rejections)
      if (plugin !== preFilter.plugin || reasons.join() !== preFilter.reasons.join())
        found.push(
          `${node}: ${plugin}: ${reasons.join()}, but plain: ${preFilter.plugin}: ${preFilter.reasons.join()}`,
        );
    return found;
  }
  for (const [node, failures] of plain.failures) {
    const fits = fast.fitting.includes(node);
    if (fits !== (failures.size === 0))
      found.push(`${node}: ${fits ? "fits" : `rejected: ${told(fast, node)}`}, but plain: ${shown(failures)}`);
    else if (!fits) found.push(...rejectionDifference(node, fast.rejections.get(node), failures));
  }
  for (const [node, { parts }] of fast.scores) {
    const expected = plain.scores.get(node)?.byPlugin ?? new Map<string, number>();
    for (const [plugin, score] of expected)
      if ((parts[plugin] ?? 0) !== score)
        found.push(`${node}: ${plugin} scores ${parts[plugin] ?? 0}, but plain: ${score}`);
  }
  return found;
}

/** The fast path reports one rejection: it has to be one of the plain ones. */
function rejectionDifference(
  node: string,
  rejection: Rejection | undefined,
  failures: ReadonlyMap<string, PlainFailure>,
): readonly string[] {
  if (rejection === undefined) return [`${node}: rejected without a reason, plain: ${shown(failures)}`];
  // Nodes that were not checked: a plugin named the only ones that can fit.
  if (rejection.plugin === "" || rejection.reasons.some((reason) => reason.includes("didn't satisfy plugin")))
    return failures.has("NodeAffinity") ? [] : [`${node}: ${rejection.reasons.join()}, plain: ${shown(failures)}`];
  if (rejection.reasons.includes("pod affinity terms conflict") && failures.has("NodeAffinity")) return [];
  const expected = failures.get(rejection.plugin);
  const same =
    expected !== undefined &&
    [...rejection.reasons].sort().join() === [...expected.reasons].sort().join() &&
    (rejection.kind === "unresolvable") === expected.unresolvable;
  return same
    ? []
    : [`${node}: ${rejection.plugin} (${rejection.kind}): ${rejection.reasons.join()}, plain: ${shown(failures)}`];
}

function told({ rejections }: Decision, node: string): string {
  const rejection = rejections.get(node);
  return rejection === undefined ? "no reason" : `${rejection.plugin}: ${rejection.reasons.join()}`;
}

function shown(failures: ReadonlyMap<string, PlainFailure>): string {
  if (failures.size === 0) return "it fits";
  return [...failures]
    .map(
      ([plugin, { reasons, unresolvable }]) => `${plugin}${unresolvable ? " (unresolvable)" : ""}: ${reasons.join()}`,
    )
    .join("; ");
}
