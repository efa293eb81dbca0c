/** Tolerations of which one may cover another. */
import { type core, equalJson, type Json } from "#api";

type Toleration = core.Toleration;

/** Both lists, without tolerations that another covers; of two equal ones, the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [i, each] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, each)) ||
      all.slice(i + 1).some((other) => covers(other, each) && !isSame(other, each));
    if (!isCovered) merged.push(each);
  }
  return merged;
}

export function areWithin(tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean {
  return tolerations.every((each) => allowed.some((other) => covers(other, each)));
}

/** Whether `wide` tolerates all that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const anyKey = (wide.key ?? "") === "" && wide.operator === "Exists";
  if ((wide.key ?? "") !== (narrow.key ?? "") && !anyKey) return false;
  if ((wide.effect ?? "") !== (narrow.effect ?? "") && (wide.effect ?? "") !== "") return false;
  if (wide.effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === "Exists") return true;
  if ((wide.operator ?? "Equal") !== "Equal") return false;
  return (narrow.operator ?? "Equal") === "Equal" && (narrow.value ?? "") === (wide.value ?? "");
}

function isSame(a: Toleration, b: Toleration): boolean {
  return equalJson(a as unknown as Json, b as unknown as Json);
}
