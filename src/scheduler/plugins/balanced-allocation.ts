/** NodeResourcesBalancedAllocation: prefers nodes whose resources the pod would use more evenly. */
import { definePlugin, MAX_SCORE, type NodeInfo, type PluginFactory, ready, SKIP } from "../framework/index.ts";

const NAME = "NodeResourcesBalancedAllocation";

interface Share {
  readonly resource: number;
  readonly asked: number;
}

export const balancedAllocation: PluginFactory = {
  name: NAME,
  make: ({ NodeResourcesBalancedAllocation: args }, { resources }) =>
    definePlugin<undefined, readonly Share[]>({
      name: NAME,
      score: {
        reads: "node",
        prepare({ requests }) {
          const amounts = new Map(requests.map(({ name, amount }) => [name, amount]));
          const shares = args.resources.map(({ name }) => ({
            resource: resources.indexOf(name),
            asked: amounts.get(name) ?? 0,
            isNative: ["cpu", "memory", "ephemeral-storage"].includes(name),
          }));
          // Pods without requests would all go to the same node.
          if (shares.every(({ asked }) => asked === 0)) return SKIP;
          return ready(shares.filter(({ asked, isNative }) => isNative || asked > 0));
        },
        of: (shares, node) => {
          const gain = balance(shares, node, 1) - balance(shares, node, 0);
          return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + gain) / 2);
        },
      },
    }),
};

/** MAX_SCORE minus the standard deviation of the used fractions. */
function balance(shares: readonly Share[], { allocatable, requested }: NodeInfo, withPod: 0 | 1): number {
  const fractions: number[] = [];
  for (const { resource, asked } of shares) {
    const capacity = allocatable[resource] ?? 0;
    if (capacity > 0) fractions.push(Math.min(((requested[resource] ?? 0) + withPod * asked) / capacity, 1));
  }
  return Math.trunc((1 - deviation(fractions)) * MAX_SCORE);
}

/** For two fractions it is half their distance, without rounding errors of roots and squares. */
function deviation(fractions: readonly number[]): number {
  const [first = 0, second = 0] = fractions;
  if (fractions.length < 2) return 0;
  if (fractions.length === 2) return Math.abs((first - second) / 2);
  let sum = 0;
  for (const fraction of fractions) sum += fraction;
  const mean = sum / fractions.length;
  let squares = 0;
  for (const fraction of fractions) squares += (fraction - mean) * (fraction - mean);
  return Math.sqrt(squares / fractions.length);
}
