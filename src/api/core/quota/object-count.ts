/** Resources of which a quota can limit only the number of objects. */
import { quantityOf } from "../../machinery/scalars/quantity.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";

const ONE = quantityOf(1);

/** `alias`: the name from before `count/…`. */
export function objectCount(group: string, plural: string, alias?: string): QuotaEvaluator {
  const names = [countName(group, plural), ...(alias === undefined ? [] : [alias])];
  const usage = Object.fromEntries(names.map((name) => [name, ONE]));
  return {
    group,
    plural,
    handles: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
    matching: (asked) => names.filter((name) => asked.includes(name)).sort(),
    matchesScope: () => false,
    usage: () => usage,
  };
}
