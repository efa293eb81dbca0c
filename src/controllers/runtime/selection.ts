/** Which controllers run, by `--controllers`: `*` selects the defaults, `name` adds one, `-name` removes one. */
import type { Controller } from "./controller.ts";

export class UnknownControllerError extends Error {}

export function selected(controllers: readonly Controller[], wanted: readonly string[] = ["*"]): readonly Controller[] {
  const names = new Set(controllers.map(({ name }) => name));
  for (const each of wanted) {
    const name = each.replace(/^-/, "");
    if (name !== "*" && !names.has(name))
      throw new UnknownControllerError(`"${name}" is not in the list of known controllers`);
  }
  const all = wanted.includes("*");
  return controllers.filter(({ name, offByDefault = false }) => {
    if (wanted.includes(name)) return true;
    return all && !offByDefault && !wanted.includes(`-${name}`);
  });
}
